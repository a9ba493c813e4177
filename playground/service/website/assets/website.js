// Shows times as people say them, in the browser's own time zone.
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
    // A live region is read out at each change.
    if (element.textContent !== text) element.textContent = text;
  }
}

showTimes();
setInterval(showTimes, 30_000);

// Copies the text of the element that a button names.
for (const button of document.querySelectorAll('button[data-copy]')) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent);
      button.textContent = 'Copied';
    } catch {
      // Without permission, the text is selected instead, ready for the keyboard.
      getSelection().selectAllChildren(source);
      button.textContent = 'Press Ctrl+C';
    }
    setTimeout(() => {
      button.textContent = label;
    }, 2_000);
  });
}

// Keeps the notice about the site up to date. The page itself is not loaded again: a form on it may hold changes.
const region = document.querySelector('[data-publication]');
const waits = { running: 500, failed: 2_000 };
let shown = '';

async function look() {
  const response = await fetch(region.dataset.publication).catch(() => undefined);
  const notice = response?.ok ? await response.text() : shown;
  // Only when it says something new: a live region is read out at each change, and an open part would close.
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
