// Nothing that was typed is lost: leaving is asked about, and a copy is kept in this browser until it is saved, for
// when the session has ended or the browser itself.
const form = document.querySelector('form[data-edit]');
const fields = ['name', 'draft', 'sample', 'base'].map((name) => form.elements.namedItem(name));
const key = `unsaved:${location.pathname}`;
const mark = document.querySelector('[data-unsaved-mark]');
const offer = document.querySelector('[data-unsaved-offer]');
let submitting = false;

// As the server reads them.
const typed = () => {
  const [name, draft, sample, base] = fields.map(({ value }) => value);
  return { name: name.trim() || 'Unnamed', draft, sample: sample.trim() || '{}', base };
};
const sameText = (one, other) => ['name', 'draft', 'sample'].every((name) => one[name] === other[name]);
const asLoaded = typed();
const loadedUnsaved = form.hasAttribute('data-unsaved');
const isDirty = () => loadedUnsaved || !sameText(typed(), asLoaded);

// A browser may have no storage, or a full one. Leaving is asked about then too.
function stored() {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}
function store(value) {
  try {
    if (value === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {}
}

function changed() {
  const dirty = isDirty();
  mark.textContent = dirty ? 'Not saved yet' : '';
  // What is still offered is not overwritten by what is typed beside it.
  if (offer.hidden) store(dirty ? typed() : undefined);
}

const kept = stored();
if (loadedUnsaved) changed();
else if (kept !== null && !sameText(kept, asLoaded)) offer.hidden = false;
else store(undefined);

offer.querySelector('[data-restore]').addEventListener('click', () => {
  for (const field of fields) field.value = kept[field.name];
  offer.hidden = true;
  form.dispatchEvent(new Event('input'));
  form.elements.namedItem('draft').focus();
});
offer.querySelector('[data-discard]').addEventListener('click', () => {
  offer.hidden = true;
  changed();
});

form.addEventListener('input', changed);
form.addEventListener('submit', () => {
  submitting = true;
});
addEventListener('pageshow', () => {
  submitting = false;
});
addEventListener('beforeunload', (event) => {
  if (isDirty() && !submitting) event.preventDefault();
});

// So that loading the page again does not say once more that it was saved.
const url = new URL(location.href);
if (url.searchParams.has('saved')) {
  url.searchParams.delete('saved');
  history.replaceState(null, '', url);
}
