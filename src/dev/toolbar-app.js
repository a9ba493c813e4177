import { defineToolbarApp } from 'astro/toolbar';
import { addPanel, dataElement, make, readSnippets } from '../inlining/edit-links/panel.js';

/** The app in Astro's dev toolbar: lists the snippets of the page and their errors, and fetches them again. */
export default defineToolbarApp({
  init(canvas, app, server) {
    // Screen readers read out what is written into an element with the role `status`, unless it is hidden.
    const status = make('p', { className: 'error', role: 'status' });
    const refresh = make('button', { type: 'button', textContent: 'Refresh' });
    const { aside, turn } = addPanel(canvas, refresh, status);
    // The toolbar is in the middle of the bottom edge, so the panel is placed above it.
    aside.style.cssText = 'bottom: 80px; right: 50%; transform: translateX(50%); width: 340px';

    refresh.addEventListener('click', () => {
      status.textContent = '';
      server.send('astro-snippets:ask', { hash: dataElement()?.dataset.hash, refresh: true });
    });
    // If the refresh has changed anything, the script of the page reloads it.
    server.on('astro-snippets:answer', ({ error }) => {
      if (error) status.textContent = error;
    });
    app.onToggled(({ state }) => turn(state));

    const notify = () => {
      const hasErrors = readSnippets().some(({ uses }) => uses?.some(({ error }) => error));
      app.toggleNotification({ state: hasErrors, level: 'error' });
    };
    // Client-side navigation does not load this app again, so errors are looked for on each new page.
    document.addEventListener('astro:page-load', notify);
    notify();
  },
});
