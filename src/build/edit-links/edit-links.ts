import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanText } from '../../client/clean-text.ts';
import { attributesOf, type Edit, matchEnd, type Tag, walk } from '../../embed/html-scanner.ts';
import { asBytes } from '../../embed/layers.ts';
import { hashSource } from '../../html/content-security-policy.ts';
import { editUrlOf } from '../../settings/settings.ts';
import type { FileEmbed, SnippetUse } from '../../snippets/file-embeds.ts';

/** What the panel says of a snippet. */
export interface PanelSnippet {
  /** Where it is edited. */
  url?: string | undefined;
  name?: string | undefined;
  /** In `astro dev`: each of its requests. */
  uses?: PanelUse[];
}

/** What the panel says of a request. */
export interface PanelUse {
  facts: string;
  error: string | undefined;
  /** Of the embed that it copies, besides the id. */
  attributes: string;
}

/** A snippet of a page. */
interface LinkedSnippet extends PanelSnippet {
  id: number;
  /** The places of the page that cannot be marked: `<title>`, `alt of <img>`. */
  unmarked: string[];
}

/**
 * Where each snippet is edited, with its name if the service sent it.
 *
 * @param fetched by the keys of requests.
 * @throws AstroError if the function throws, or returns anything but a URL.
 */
export function linkSnippets(
  uses: readonly Pick<SnippetUse, 'request'>[],
  fetched: ReadonlyMap<string, { name?: string | undefined }>,
  editUrl: (id: string) => string,
): EditLinks {
  const linked = [...Map.groupBy(uses, ({ request }) => request.id)].map(([id, requests]) => {
    const [name] = requests.flatMap(({ request }) => fetched.get(request.key)?.name ?? []);
    return [id, { url: editUrlOf(id, editUrl, isWebUrl), name: name && cleanText(name) }] as const;
  });
  return new EditLinks(Object.fromEntries(linked));
}

const isWebUrl = ({ protocol }: URL) => /^https?:$/.test(protocol);

/** Adds to pages what the panel needs: marks around the places of snippets, and what it says of them. */
export class EditLinks {
  readonly snippets: Readonly<Record<string, PanelSnippet>>;
  readonly #hash: string | undefined;
  /** The number of pages so far. */
  pages = 0;

  /**
   * @param snippets by their ids.
   * @param hash of what a page of `astro dev` shows. There, the toolbar has the panel; other pages get a script for it.
   */
  constructor(snippets: Readonly<Record<string, PanelSnippet>>, hash?: string) {
    this.snippets = snippets;
    this.#hash = hash;
  }

  /**
   * Marks the places of a page, as far as a browser reads a comment there.
   *
   * @param page as it is before anything is inlined.
   * @returns the embeds with their marks, and the script; `undefined` for what is only part of a page.
   */
  add(page: Buffer, embeds: readonly FileEmbed[]): { embeds: FileEmbed[]; script: Edit } | undefined {
    const { scriptAt, unmarked } = readPage(page.toString('latin1'), embeds);
    if (scriptAt === undefined) return undefined;
    this.pages += 1;
    const linked = [...Map.groupBy(embeds, ({ request }) => request.id)].map(([id, shown]) => {
      const places = new Set(shown.flatMap((embed) => unmarked.get(embed) ?? []));
      return { id, ...this.snippets[id], unmarked: [...places] };
    });
    const script = this.#hash === undefined ? `<script type="module">${pageScript()}</script>` : '';
    const text = asBytes(dataElement(linked, this.#hash) + script);
    return {
      embeds: embeds.map((embed) =>
        unmarked.has(embed) ? embed : { ...embed, form: { ...embed.form, isMarked: true } },
      ),
      script: { start: scriptAt, end: scriptAt, text },
    };
  }
}

/** The id of the element that holds what the scripts of a page read. */
export const dataId = 'snippet-edit-links';

/** @param hash of what the page shows, in `astro dev`. */
export function dataElement(snippets: readonly LinkedSnippet[], hash?: string): string {
  const attribute = hash === undefined ? '' : ` data-hash="${hash}"`;
  // In ASCII, as the page may be in any encoding, and without what could end the script.
  const data = JSON.stringify(snippets).replace(/[<>&\u0080-\uffff]/g, asUnit);
  return `<script type="application/json" id="${dataId}"${attribute}>${data}</script>`;
}

const asUnit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const comments = /^\s*(?:(?:\/\/.*|\/\*\*[\s\S]*?\*\/)\n\s*)*/gm;
let code: string | undefined;

/** The script of a built page, the same for each. */
function pageScript(): string {
  // Without what only its readers need, since it is in every page.
  code ??= `${readFileSync(join(import.meta.dirname, 'panel.js'), 'utf8').replace(comments, '')}addToPage();\n`;
  return code;
}

/** What a Content Security Policy has to allow for the script: `'sha256-…'`. */
export function scriptSource(): string {
  return hashSource(pageScript());
}

/**
 * Finds where the script of a page belongs, `undefined` for what is only part of a page, and the places that cannot be
 * marked, each as people call it.
 *
 * @param page as Latin-1.
 */
function readPage(page: string, embeds: readonly FileEmbed[]) {
  const unmarked = new Map<FileEmbed, string>();
  let end = page.length;
  let isDocument = false;
  let next = 0;
  // Both the embeds and what the walk comes across are in the order of the page.
  const nextBefore = (at: number): readonly FileEmbed[] => {
    const from = next;
    while ((embeds[next]?.start ?? Infinity) < at) next += 1;
    return embeds.slice(from, next);
  };
  walk<string>(page, '', {
    open(tag) {
      const { name } = tag;
      if (name === 'body') end = Math.min(end, tag.start);
      if (name === 'html' || name === 'head' || name === 'body') isDocument = true;
      nextBefore(tag.start + 1);
      for (const embed of nextBefore(tag.end)) unmarked.set(embed, attributeAt(page, tag, embed.start));
      return name;
    },
    close(name, { start }, _context, isImplied) {
      if (name === 'head' && !isImplied) end = Math.min(end, start);
    },
    text(range, holder, kind) {
      if (kind === 'text') return;
      nextBefore(range.start);
      for (const embed of nextBefore(range.end)) unmarked.set(embed, `<${latin1(holder)}>`);
    },
    comment({ start }) {
      if (matchEnd(doctype, page, start) !== undefined) isDocument = true;
    },
  });
  return { scriptAt: isDocument ? end : undefined, unmarked };
}

const doctype = /<!doctype\b/iy;

/** The attribute that contains an offset. */
function attributeAt(page: string, tag: Tag, offset: number): string {
  const attributes = attributesOf(page, tag);
  const found = attributes.find(({ start, end }) => start <= offset && offset < end);
  // What the many <meta> elements of a page are about.
  const about = tag.name === 'meta' && attributes.find(({ name }) => name === 'name' || name === 'property');
  const more = about ? ` ${about.name}="${about.value}"` : '';
  return latin1(`${found?.name ?? 'attribute'} of <${tag.name}${more}>`);
}

function latin1(text: string): string {
  return Buffer.from(text, 'latin1').toString();
}
