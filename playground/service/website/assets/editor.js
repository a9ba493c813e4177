// Saves the draft while one types, shows its preview, and says if it was changed elsewhere. Asks before leaving until
// everything is saved.
const form = document.querySelector('form[data-draft]');
const frame = document.querySelector('iframe[data-preview]');
const part = (name) => document.querySelector(`[data-${name}]`);
const failures = {
  401: 'you are signed out. Sign in in another tab.',
  404: 'the snippet was deleted.',
  413: 'the text is far too long.',
};
let typed = form.dataset.unsaved === undefined ? 0 : 1;
let saved = 0;
let exchange;
let isLeaving = false;
let timer;

async function send() {
  const data = new FormData(form);
  // Changes from elsewhere may only be replaced by a click.
  data.delete('replaces');
  const response = await fetch(form.dataset.draft, { method: 'POST', body: data }).catch(() => undefined);
  if ([200, 409, 422].includes(response?.status)) return response.json();
  return { failure: failures[response?.status] ?? 'the service does not answer.' };
}

async function synchronize() {
  const sent = typed;
  exchange = send();
  const { base, conflict, failure, changed, ...preview } = await exchange;
  exchange = undefined;
  if (base !== undefined) {
    form.elements.namedItem('base').value = base;
    saved = sent;
    part('changed').hidden = !changed;
  }
  const mark = base !== undefined && sent > 0 ? 'Saved' : '';
  part('mark').textContent = sent === saved ? mark : `Not saved: ${failure}`;
  tell('conflict', conflict);
  if (sent > 0 && 'note' in preview) show(preview);
  if (sent > 0 && sent === typed && 'values' in preview) showValues(preview);
  again(typed === sent ? 2_000 : 0);
}

/** Shows a notice, if it is new: changes are read aloud, and close an open part. */
function tell(name, notice = '') {
  const region = part(name);
  if (region.dataset.shown === notice) return;
  region.hidden = notice === '';
  region.dataset.shown = notice;
  region.innerHTML = notice;
}

function show({ document: page, note, checks, findings, embeds }) {
  part('flaw').textContent = note;
  tell('checks', checks);
  form.elements.namedItem('draft').dispatchEvent(new CustomEvent('findings', { detail: findings }));
  if (page === undefined) return;
  // A page that is loaded again would flicker.
  if (frame.srcdoc !== page) frame.srcdoc = page;
  for (const [form, text] of Object.entries(embeds)) {
    document.getElementById(`embed-${form}`).textContent = text;
  }
}

/** Shows the sample params in both of their forms, except where one types. */
function showValues({ values, sample }) {
  const { sample: box, sampleBefore } = form.elements;
  if (document.activeElement !== box) box.value = sample;
  sampleBefore.value = sample;
  if (!part('values').contains(document.activeElement)) tell('values', values);
}

function again(milliseconds) {
  clearTimeout(timer);
  if (exchange !== undefined || isLeaving) return;
  timer = setTimeout(() => (document.hidden ? again(2_000) : synchronize()), milliseconds);
}

/** Scrolls the page in the frame to the draft. */
function scrollToDraft() {
  const { contentDocument: page, contentWindow: view } = frame;
  const comments = page.createTreeWalker(page, NodeFilter.SHOW_COMMENT);
  while (comments.nextNode()) {
    const { data, parentElement } = comments.currentNode;
    if (data !== 'draft') continue;
    view.scrollTo(0, view.scrollY + parentElement.getBoundingClientRect().top - view.innerHeight / 3);
    return;
  }
}
frame.addEventListener('load', scrollToDraft);
scrollToDraft();
if (matchMedia('(width < 56rem)').matches) document.querySelector('[name=width][value=phone]').checked = true;

form.addEventListener('input', ({ target }) => {
  // The width of the preview is no part of the form.
  if (target.form !== form) return;
  typed += 1;
  again(300);
});
form.addEventListener('submit', async (event) => {
  isLeaving = exchange === undefined;
  clearTimeout(timer);
  if (isLeaving) return;
  // The answer to the last save has the revision that this form is based on.
  event.preventDefault();
  await exchange;
  form.requestSubmit(event.submitter);
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
addEventListener('beforeunload', (event) => {
  if (typed !== saved && !isLeaving) event.preventDefault();
});
again(typed > 0 ? 0 : 2_000);

// A reload must not show the "saved" notice again.
const url = new URL(location.href);
if (url.searchParams.has('saved')) {
  url.searchParams.delete('saved');
  history.replaceState(null, '', url);
}
