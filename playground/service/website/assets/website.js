// Shows relative times, and local times in the title.
const units = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

function ago(date) {
  let passed = Math.round((date - Date.now()) / 1000);
  for (const [unit, length] of units) {
    if (Math.abs(passed) < length) return relative.format(passed, unit);
    passed = Math.round(passed / length);
  }
  return undefined;
}

function showTimes() {
  for (const element of document.querySelectorAll('time')) {
    const date = new Date(element.dateTime);
    const local = date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
    element.title = local;
    const isClock = element.hasAttribute('data-clock');
    const text = isClock ? date.toTimeString().slice(0, 5) : (ago(date) ?? local);
    // Screen readers read a live region at each change.
    if (element.textContent !== text) element.textContent = text;
  }
}

showTimes();
setInterval(showTimes, 30_000);

// Copy buttons name the element whose text they copy.
for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = 'Copied';
    } catch {
      // The browser may refuse: select the text instead.
      getSelection().selectAllChildren(source);
      button.textContent = 'Press Ctrl+C';
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2_000);
  });
}

// Updates the notice about the site without a reload, since a form on the page may hold changes.
const region = document.querySelector('[data-publication]');
const waits = { running: 500, failed: 2_000 };
let shown = '';

async function look() {
  const response = await fetch(region.dataset.publication).catch(() => undefined);
  const notice = response?.ok ? await response.text() : shown;
  // An unchanged notice stays: screen readers read each change, and open parts would close.
  if (notice !== shown) {
    region.innerHTML = notice;
    showTimes();
  }
  shown = notice;
  again();
}

function again() {
  const wait = waits[region?.querySelector('[data-state]')?.dataset.state];
  if (wait !== undefined) setTimeout(look, wait);
}

again();
