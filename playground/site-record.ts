import { escapeAttribute } from 'entities';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { z } from 'zod';
import type { ShownPlaces } from './service/publisher.ts';

const listSchema = z.object({
  snippets: z.array(
    z.object({
      id: z.int(),
      params: z.string().default('{}'),
      pages: z.array(z.object({ file: z.string() })).default([]),
      collections: z.array(z.object({ collection: z.string(), entry: z.string() })).default([]),
    }),
  ),
});

/** Where a site shows a snippet, by the snippet's id; nothing when the site has no usable record. */
export type SiteRecord = (id: number) => (ShownPlaces & { params: string[] }) | undefined;

export const noRecord: SiteRecord = () => undefined;

/** Reads what `astro-snippets list --json` wrote. A snippet is in it once for each of its params. */
export function toSiteRecord(json: string): SiteRecord {
  const { snippets } = listSchema.parse(JSON.parse(json));
  return (id) => {
    const uses = snippets.filter((snippet) => snippet.id === id);
    const pages = new Set(uses.flatMap((use) => use.pages.map(({ file }) => file)));
    const entries = new Set(
      uses.flatMap((use) => use.collections.map(({ collection, entry }) => `${collection}/${entry}`)),
    );
    return {
      pages: [...pages].sort(),
      entries: [...entries].sort(),
      params: uses.map(({ params }) => params),
    };
  };
}

/** The style sheets of a page, linked and inline, as markup that works on any other host. */
export function stylesOf(page: string, siteUrl: string): string {
  const styles = [...elementsOf(parse(page))].map(({ tagName, attrs, childNodes }) => {
    if (tagName === 'style')
      return `<style>${childNodes.map((node) => ('value' in node ? node.value : '')).join('')}</style>`;
    const { rel, href } = Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
    if (tagName !== 'link' || rel !== 'stylesheet' || href === undefined) return '';
    return `<link rel="stylesheet" href="${escapeAttribute(new URL(href, siteUrl).href)}">`;
  });
  return styles.join('');
}

/** What is around one of these contents on a page: its styles, and the start tags of the elements that contain it. */
export function surroundingsOf(
  page: string,
  contents: readonly string[],
  siteUrl: string,
): string | undefined {
  const content = contents.find((text) => text.trim() !== '' && page.includes(text));
  if (content === undefined) return undefined;
  const start = page.indexOf(content);
  const around = [...elementsOf(parse(page, { sourceCodeLocationInfo: true }))].flatMap((element) => {
    const { startTag, endOffset = 0 } = element.sourceCodeLocation ?? {};
    const isAround = startTag && startTag.endOffset <= start && start + content.length <= endOffset;
    return isAround && element.tagName !== 'head' ? page.slice(startTag.startOffset, startTag.endOffset) : [];
  });
  return stylesOf(page, siteUrl) + around.join('');
}

function* elementsOf({
  childNodes,
}: DefaultTreeAdapterTypes.ParentNode): Generator<DefaultTreeAdapterTypes.Element> {
  for (const node of childNodes) {
    if (!('tagName' in node)) continue;
    yield node;
    yield* elementsOf(node);
  }
}
