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

/** @param within the element whose times are shown. */
export function showTimes(within) {
  for (const element of within.querySelectorAll('time[datetime]')) {
    const date = new Date(element.dateTime);
    const local = date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
    element.title = local;
    const isClock = element.hasAttribute('data-clock');
    const text = isClock ? date.toTimeString().slice(0, 5) : (ago(date) ?? local);
    // A live region is read out at each change.
    if (element.textContent !== text) element.textContent = text;
  }
}

showTimes(document);
setInterval(() => showTimes(document), 30_000);
