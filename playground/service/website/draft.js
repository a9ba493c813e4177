// Saves the draft while one types. Leaving is asked about as long as the service has not taken everything.
const form = document.querySelector('form[data-edit]');
const base = form.elements.namedItem('base');
const mark = document.querySelector('[data-draft-mark]');
// What another has changed meanwhile is replaced by a click on "Save the draft" alone.
let isConflict = form.dataset.unsaved === 'conflict';
let typed = form.dataset.unsaved === undefined ? 0 : 1;
let saved = 0;
let saving;
let submitting = false;
let timer;

/** Returns why it was not saved, and whether it may be later. */
async function send() {
  const response = await fetch(form.dataset.draft, { method: 'POST', body: new FormData(form) }).catch(
    () => undefined,
  );
  if (response?.ok) {
    base.value = (await response.json()).base;
    return undefined;
  }
  if (response?.status === 401) return { flaw: 'you are signed out. Sign in in another tab.', mayPass: true };
  if (response === undefined || response.status >= 500)
    return { flaw: 'the service does not answer.', mayPass: true };
  isConflict = response.status === 409;
  return { flaw: (await response.json()).error, mayPass: false };
}

async function save() {
  if (submitting || isConflict) return;
  const sent = typed;
  saving = send();
  const failure = await saving;
  saving = undefined;
  if (failure === undefined) saved = sent;
  mark.textContent = failure === undefined ? 'Saved' : `Not saved: ${failure.flaw}`;
  if (typed !== sent) saveSoon(0);
  else if (failure?.mayPass) saveSoon(2_000);
}

function saveSoon(milliseconds) {
  clearTimeout(timer);
  if (saving === undefined) timer = setTimeout(save, milliseconds);
}

form.addEventListener('input', () => {
  typed += 1;
  saveSoon(400);
});
form.addEventListener('submit', async (event) => {
  clearTimeout(timer);
  if (saving !== undefined) {
    // Its answer says which draft this one is based on.
    event.preventDefault();
    await saving;
    form.requestSubmit(event.submitter);
    return;
  }
  submitting = true;
});
addEventListener('pageshow', ({ persisted }) => {
  submitting = false;
  if (persisted) location.reload();
});
addEventListener('beforeunload', (event) => {
  if (typed !== saved && !submitting) event.preventDefault();
});
if (typed > 0) save();

// So that loading the page again does not say once more that it was saved.
const url = new URL(location.href);
if (url.searchParams.has('saved')) {
  url.searchParams.delete('saved');
  history.replaceState(null, '', url);
}
