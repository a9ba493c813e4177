import { defineToolbarApp } from 'astro/toolbar';
import { addPanel, dataElement, make, readSnippets } from '../inlining/edit-links/panel.js';

/** What to do next, for whoever looks at the list of snippets. */
function advise(snippets) {
  if (snippets.length === 0) {
    return 'To show one, write <Snippet id={42} /> in a page, or <snippet-embed id="42"></snippet-embed> in Markdown.';
  }
  const failed = snippets.filter(({ uses }) => uses?.some(({ error }) => error));
  const errors =
    failed.length > 0 ? `Below is what to do about snippet ${failed.map(({ id }) => id).join(', ')}. ` : '';
  const links = snippets.some(({ url }) => url) ? '' : ' For links to edit, set the option editUrl.';
  return `${errors}The page reloads by itself when one is published.${links}`;
}

/** Opens a place in the sources in the editor, by the dev server's own route. */
const open = (position) => fetch(`/__open-in-editor?file=${encodeURIComponent(position)}`);

/** The app in Astro's dev toolbar: lists the snippets of the page and their errors, and fetches them again. */
export default defineToolbarApp({
  init(canvas, app, server) {
    // Screen readers read out what is written into an element with the role `status`, unless it is hidden.
    const status = make('p', { className: 'error', role: 'status' });
    const refresh = make('button', { type: 'button', textContent: 'Refresh' });
    const { aside, turn } = addPanel(canvas, [refresh, status], { advise, open });
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
