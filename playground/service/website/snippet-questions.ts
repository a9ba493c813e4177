import { html } from 'hono/html';
import type { Publisher } from '../publisher.ts';
import type { Snippet } from '../store/snippets.ts';
import { type Html, question } from './layout.ts';
import { countOf, placesList } from './places.ts';

export function unpublishQuestion(snippet: Snippet, publisher: Publisher | undefined): Html {
  const { id, name, published } = snippet;
  return question({
    title: `Unpublish “${name}”?`,
    body: html`${consequence(snippet, publisher)}
        <p>The draft and all versions stay, and version ${published} can be published again.</p>`,
    action: `/snippets/${id}/unpublish`,
    yes: 'Unpublish it',
    confirm: 'yes',
    back: `/snippets/${id}`,
  });
}

export function discardQuestion({ id, name, published }: Snippet): Html {
  return question({
    title: `Discard the draft of “${name}”?`,
    body: html`<p>The draft becomes the content of version ${published} again, which pages show. What was typed since then is lost.</p>`,
    action: `/snippets/${id}/discard`,
    yes: 'Discard it',
    confirm: 'yes',
    back: `/snippets/${id}`,
  });
}

export function deleteQuestion(snippet: Snippet, publisher: Publisher | undefined): Html {
  const { id, name } = snippet;
  return question({
    title: `Delete “${name}”?`,
    body: html`${consequence(snippet, publisher)}
        <p>Its draft and its versions are gone then. Its id, ${id}, is never given to another snippet.</p>`,
    action: `/snippets/${id}/delete`,
    yes: 'Delete it',
    confirm: 'yes',
    back: `/snippets/${id}`,
  });
}

/** What it breaks that a snippet is not served any more. */
function consequence({ id, published }: Snippet, publisher: Publisher | undefined): Html {
  const places = publisher?.shown(id);
  if (publisher === undefined || places === undefined) {
    return html`<p>Which pages show it is not known: there is no record of a build. ${
      published === null
        ? 'It is not published now.'
        : 'A site that embeds it fails at its next build, and stays as it is until then.'
    }</p>`;
  }
  if (places.pages.length + places.entries.length === 0) {
    return html`<p>No page of the site shows it, as of its last build.</p>`;
  }
  return html`<p><strong>The site shows it on ${countOf(places)}.</strong> They keep their text for now, but until their embeds are
        taken out, the site can be neither built nor refreshed: nothing else that is published reaches it either.</p>
        ${placesList(places, publisher)}`;
}
