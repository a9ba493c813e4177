import { html } from 'hono/html';
import { parseParams } from '../schemas.ts';
import type { Snippet } from '../store/snippets.ts';
import { renderTemplate } from '../template.ts';
import type { WebsiteEnvironment } from './environment.ts';
import { headCard } from './head-card.ts';
import type { Html } from './page-facts.ts';
import type { SnippetPreview } from './snippet-form.ts';

/** A document with a draft in it. */
export interface PreviewFrame {
  /** `undefined` if the draft cannot be rendered. */
  document: string | undefined;
  /** The path of the page of the site that the document is; `undefined` if the draft is on no page. */
  page?: string | undefined;
  /** Whether the document is a card of what is for `<head>`. */
  isCard?: true;
}

type Previewed = Pick<Snippet, 'id' | 'draft' | 'sample'>;
type Shown = Pick<WebsiteEnvironment['Variables'], 'publisher' | 'page' | 'publishedContent'>;

/** Makes the page of the site with a draft in its place or, if no page shows the snippet, the draft alone. */
export async function previewFrame(
  { id, draft, sample }: Previewed,
  { publisher, page, publishedContent }: Shown,
): Promise<PreviewFrame> {
  const { content } = await renderTemplate(draft, parseParams(sample) ?? {});
  if (content === undefined) return { document: undefined };
  const card = headCard(content);
  if (card !== undefined) return { document: `${await card}`, isCard: true };
  const contentOf = async (other: number, params: Record<string, unknown>) => {
    const template = other === id ? draft : publishedContent(other);
    return template === undefined ? undefined : (await renderTemplate(template, params)).content;
  };
  const made = await publisher?.preview(id, contentOf, page);
  if (made) return { document: made.html, page: made.page };
  return { document: ((await publisher?.styles()) ?? '') + content };
}

/** A preview in a frame, as wide as a desktop or as a phone. The frame runs no scripts. */
export async function previewPart(
  title: string,
  { note }: Pick<SnippetPreview, 'note'>,
  previewed: Previewed,
  shown: Shown,
): Promise<Html> {
  const { document, page, isCard } = await previewFrame(previewed, shown);
  const caption = isCard
    ? 'It is for <head>, where nothing is visible: this is the card that other sites make of a link.'
    : page
      ? `As on ${page}, in its place and with its styles.`
      : shown.publisher && "With the styles of the site's home page.";
  const width = (value: string, label: string, isChosen: boolean) =>
    html`<label><input type="radio" form="" name="width" value="${value}"${isChosen && html` checked`}> ${label}</label>`;
  // The choice belongs to no form: nothing of it is sent or saved. A draft alone would be tiny on a desktop.
  return html`<div class="preview">
          <h2>Preview</h2>
          <p class="status bad" role="status" data-flaw>${note}</p>
          <div class="row" role="group" aria-label="Width of the preview">
            ${width('desktop', 'Desktop', page !== undefined)}${width('phone', 'Phone', page === undefined)}
          </div>
          <div class="window"><iframe data-preview sandbox="allow-same-origin" title="Preview of ${title}" srcdoc="${document}"></iframe></div>
          ${caption && html`<p class="hint">${caption}</p>`}
          <link rel="stylesheet" href="/assets/editor.css">
        </div>`;
}
