import { html } from 'hono/html';
import type { Publisher } from '../publisher.ts';
import type { Snippet, SnippetVersion } from '../store/snippets.ts';
import type { Html, Question } from './layout.ts';
import { countOf, placesList } from './places.ts';

type Asked = Pick<Question, 'title' | 'body' | 'yes'>;

export function unpublishQuestion(snippet: Snippet, publisher: Publisher | undefined): Asked | undefined {
  const { name, published } = snippet;
  if (published === null) return undefined;
  return {
    title: `Unpublish “${name}”?`,
    body: html`${consequence(snippet, publisher)}
        <p>The draft and all versions stay, and version ${published} can be published again.</p>`,
    yes: 'Unpublish it',
  };
}

export function discardQuestion({ name, published }: Snippet): Asked | undefined {
  if (published === null) return undefined;
  return {
    title: `Discard the draft of “${name}”?`,
    body: html`<p>The draft becomes the content of version ${published} again, which pages show. What was typed since then is lost.</p>`,
    yes: 'Discard it',
  };
}

export function rollBackQuestion(
  { name, published }: Snippet,
  versions: readonly SnippetVersion[],
  number: number,
): Asked | undefined {
  const [newest] = versions;
  if (newest === undefined || number === published || !versions.some((one) => one.number === number))
    return undefined;
  return {
    title: `Roll back “${name}” to version ${number}?`,
    body: html`<p>This makes version ${newest.number + 1}, with the content of version ${number}, and publishes it. All versions stay.
        A draft that was never published stays, too.</p>`,
    yes: `Publish version ${number} again`,
  };
}

export function deleteQuestion(snippet: Snippet, publisher: Publisher | undefined): Asked {
  return {
    title: `Delete “${snippet.name}”?`,
    body: html`${consequence(snippet, publisher)}
        <p>Its draft and its versions are gone then. Its id, ${snippet.id}, is never given to another snippet.</p>`,
    yes: 'Delete it',
  };
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
