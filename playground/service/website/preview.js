// Shows what is typed a moment later, without the click on "Preview".
const form = document.querySelector('form[data-preview]');
const frame = document.querySelector('iframe[data-preview]');
const flaw = document.querySelector('[data-preview-flaw]');
let timer;
let latest = 0;

async function preview() {
  const number = ++latest;
  const response = await fetch(form.dataset.preview, { method: 'POST', body: new FormData(form) });
  if (response.status === 401) {
    flaw.textContent = 'You are signed out.';
    return;
  }
  const { content, error, note, embeds } = await response.json();
  // An answer that comes after a later one was asked for shows what is no longer there.
  if (number !== latest) return;
  flaw.textContent = error ?? note;
  if (error !== undefined) return;
  frame.srcdoc = frame.dataset.head + content;
  for (const [form, text] of Object.entries(embeds)) {
    document.getElementById(`embed-${form}`).textContent = text;
  }
}

// The numbers of the lines, which an error names.
const text = document.querySelector('#draft');
const lines = document.querySelector('[data-lines]');
function numberLines() {
  lines.textContent = Array.from(text.value.split('\n'), (_, index) => index + 1).join('\n');
  lines.scrollTop = text.scrollTop;
}
text.addEventListener('scroll', numberLines);
numberLines();

form?.addEventListener('input', () => {
  numberLines();
  clearTimeout(timer);
  timer = setTimeout(preview, 200);
});
