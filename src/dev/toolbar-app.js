import { defineToolbarApp } from 'astro/toolbar';
import { addPanel, dataElement, make, readSnippets } from '../inlining/edit-links/panel.js';

/** The dev toolbar app: the snippets of this page, and their errors. */
export default defineToolbarApp({
  init(canvas, app, server) {
    // What is written into it is read out, so it is never hidden.
    const status = make('p', { className: 'error', role: 'status' });
    const refresh = make('button', { type: 'button', textContent: 'Refresh' });
    const { aside, turn } = addPanel(canvas, refresh, status);
    // In the middle, above the toolbar.
    aside.style.cssText = 'bottom: 80px; right: 50%; transform: translateX(50%); width: 340px';
    refresh.addEventListener('click', () => {
      status.textContent = '';
      server.send('astro-snippets:ask', { hash: dataElement()?.dataset.hash, refresh: true });
    });
    server.on('astro-snippets:answer', ({ error }) => {
      if (error) status.textContent = error;
    });
    app.onToggled(({ state }) => turn(state));
    const notify = () => {
      const state = readSnippets().some(({ uses }) => uses?.some(({ error }) => error));
      app.toggleNotification({ state, level: 'error' });
    };
    document.addEventListener('astro:page-load', notify);
    notify();
  },
});
