import { showTimes } from './times.js';

// Keeps the notice about the site up to date. The page itself is not loaded again: a form on it may hold changes.
const region = document.querySelector('[data-publication]');
const waits = { running: 500, failed: 2_000 };

async function look() {
  const response = await fetch(region.dataset.publication).catch(() => undefined);
  if (response?.ok) {
    const notice = await response.text();
    // Only when it says something new: a live region is read out at each change, and an open part would close.
    if (notice !== shown) {
      region.innerHTML = notice;
      showTimes(region);
    }
    shown = notice;
  }
  again();
}

function again() {
  const wait = waits[region.querySelector('[data-state]')?.dataset.state];
  if (wait !== undefined) setTimeout(look, wait);
}

let shown = '';
if (region !== null) again();
