import { escapeAttribute } from 'entities';
import { Parser } from 'htmlparser2';
import { z } from 'zod';
import type { ShownPlaces } from './service/publisher.ts';

const listSchema = z.object({
  snippets: z.array(
    z.object({
      id: z.int(),
      pages: z.array(z.object({ file: z.string() })).default([]),
      collections: z.array(z.object({ collection: z.string(), entry: z.string() })).default([]),
    }),
  ),
});

/** Where a site shows a snippet, by the snippet's id; nothing when the site has no usable record. */
export type SiteRecord = (id: number) => ShownPlaces | undefined;

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
    return { pages: [...pages].sort(), entries: [...entries].sort() };
  };
}

/** The style sheets of a page, linked and inline, as markup that works on any other host. */
export function stylesOf(page: string, siteUrl: string): string {
  let styles = '';
  let isStyle = false;
  const parser = new Parser({
    onopentag(name, { rel, href }) {
      isStyle = name === 'style';
      if (isStyle) styles += '<style>';
      if (name === 'link' && rel === 'stylesheet' && href !== undefined) {
        styles += `<link rel="stylesheet" href="${escapeAttribute(new URL(href, siteUrl).href)}">`;
      }
    },
    ontext(text) {
      if (isStyle) styles += text;
    },
    onclosetag(name) {
      if (name === 'style') styles += '</style>';
      isStyle = false;
    },
  });
  parser.end(page);
  return styles;
}
