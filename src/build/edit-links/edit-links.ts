import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanText } from '../../client/clean-text.ts';
import { attributesOf, type Edit, type Range, type Tag, walk } from '../../embed/html-scanner.ts';
import { asBytes } from '../../embed/layers.ts';
import { hashSource } from '../../html/content-security-policy.ts';
import { editUrlOf } from '../../settings/settings.ts';
import type { FileEmbed, SnippetUse } from '../../snippets/file-embeds.ts';

/** What the panel says of a snippet. */
export interface PanelSnippet {
  /** Where it is edited. */
  url?: string | undefined;
  /** If variant A sent it. */
  name?: string | undefined;
  /** In `astro dev`: each of its requests. */
  uses?: PanelUse[];
}

/** What the panel says of a request, and what it copies as an embed. */
export interface PanelUse {
  facts: string;
  error: string | undefined;
  params: string | undefined;
  optional: boolean;
}

/** A snippet of a page. */
interface LinkedSnippet extends PanelSnippet {
  id: number;
  /** The places of the page that cannot be marked: `<title>`, `alt of <img>`. */
  unmarked: string[];
}

/** A page whose places are marked, and the script for it. */
interface LinkedPage {
  embeds: FileEmbed[];
  script: Edit;
}

/**
 * Where each snippet is edited, by its id.
 *
 * @throws AstroError if the function throws, or returns anything but a URL.
 */
export function linkSnippets(
  uses: readonly Pick<SnippetUse, 'request'>[],
  editUrl: (id: string) => string,
): EditLinks {
  const ids = new Set(uses.map(({ request }) => request.id));
  return new EditLinks(
    Object.fromEntries([...ids].map((id) => [id, { url: editUrlOf(id, editUrl, isWebUrl) }])),
  );
}

function isWebUrl({ protocol }: URL): boolean {
  return /^https?:$/.test(protocol);
}

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

  /** Adds the names of snippets that have arrived. */
  addNames(
    uses: readonly Pick<SnippetUse, 'request'>[],
    fetched: ReadonlyMap<string, { name?: string | undefined }>,
  ): void {
    for (const { request } of uses) {
      const snippet = this.snippets[request.id];
      const { name } = fetched.get(request.key) ?? {};
      if (snippet !== undefined && name !== undefined) snippet.name ??= cleanText(name);
    }
  }

  /**
   * Marks the places of a page, as far as a browser reads a comment there.
   *
   * @param page as it is before anything is inlined.
   * @returns `undefined` for what is only part of a page.
   */
  add(page: Buffer, embeds: readonly FileEmbed[]): LinkedPage | undefined {
    const { scriptAt, unmarked } = readPage(page.toString('latin1'), embeds);
    if (scriptAt === undefined) return undefined;
    this.pages += 1;
    const linked = new Map<number, LinkedSnippet>();
    for (const embed of embeds) {
      const { id } = embed.request;
      const snippet = linked.get(id) ?? { id, ...this.snippets[id], unmarked: [] };
      linked.set(id, snippet);
      const place = unmarked.get(embed);
      if (place !== undefined && !snippet.unmarked.includes(place)) snippet.unmarked.push(place);
    }
    return {
      embeds: embeds.map((embed) =>
        unmarked.has(embed) ? embed : { ...embed, form: { ...embed.form, isMarked: true } },
      ),
      script: { start: scriptAt, end: scriptAt, text: this.#elements([...linked.values()]) },
    };
  }

  #elements(snippets: readonly LinkedSnippet[]): string {
    const script = this.#hash === undefined ? `<script type="module">${pageScript()}</script>` : '';
    return asBytes(dataElement(snippets, this.#hash) + script);
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

function asUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

let code: string | undefined;

/** The script of a built page, the same for each. */
function pageScript(): string {
  if (code === undefined) {
    const panel = readFileSync(join(import.meta.dirname, 'panel.js'), 'utf8');
    // Without what only its readers need, since it is in every page.
    const short = panel.replace(/^\s*(?:(?:\/\/.*|\/\*\*[\s\S]*?\*\/)\n\s*)*/gm, '');
    code = `${short}addToPage();\n`;
  }
  return code;
}

/** What a Content Security Policy has to allow for the script: `'sha256-…'`. */
export function scriptSource(): string {
  return hashSource(pageScript());
}

interface ReadPage {
  /** Where the script belongs; `undefined` for what is only part of a page. */
  scriptAt: number | undefined;
  /** The places that cannot be marked, each as people call it. */
  unmarked: Map<FileEmbed, string>;
}

/** @param page as Latin-1. */
function readPage(page: string, embeds: readonly FileEmbed[]): ReadPage {
  const unmarked = new Map<FileEmbed, string>();
  const starts = embeds.map(({ start }) => start);
  let headEnd: number | undefined;
  let bodyStart: number | undefined;
  let isDocument = false;
  let hasFrames = false;
  let next = 0;
  // Both the embeds and what the walk comes across are in the order of the page.
  const embedsIn = ({ start, end }: Range): FileEmbed[] => {
    while ((starts[next] ?? Infinity) < start) next += 1;
    let last = next;
    while ((starts[last] ?? Infinity) < end) last += 1;
    return embeds.slice(next, last);
  };
  walk<string>(page, '', {
    open(tag) {
      const { name, start, end } = tag;
      if (name === 'body') bodyStart ??= start;
      if (name === 'html' || name === 'head' || name === 'body') isDocument = true;
      if (name === 'frameset') hasFrames = true;
      for (const embed of embedsIn({ start: start + 1, end })) {
        unmarked.set(embed, attributeAt(page, tag, embed.start));
      }
      return name;
    },
    close(name, { start }, _context, isImplied) {
      if (name === 'head' && !isImplied) headEnd ??= start;
    },
    text(range, holder, kind) {
      for (const embed of embedsIn(range)) if (kind !== 'text') unmarked.set(embed, `<${latin1(holder)}>`);
    },
    comment({ start, end }) {
      if (/^<!doctype\b/i.test(page.slice(start, end))) isDocument = true;
    },
  });
  const ends = [headEnd, bodyStart].filter((at) => at !== undefined);
  const scriptAt = isDocument && !hasFrames ? Math.min(page.length, ...ends) : undefined;
  return { scriptAt, unmarked };
}

/** The attribute that contains an offset. */
function attributeAt(page: string, tag: Tag, offset: number): string {
  const attributes = attributesOf(page, tag);
  const found = attributes.find(({ start, end }) => start <= offset && offset < end);
  // What the many <meta> elements of a page are about.
  const about = attributes.find(
    ({ name }) => tag.name === 'meta' && (name === 'name' || name === 'property'),
  );
  const more = about === undefined ? '' : ` ${about.name}="${about.value}"`;
  return latin1(`${found?.name ?? 'attribute'} of <${tag.name}${more}>`);
}

function latin1(text: string): string {
  return Buffer.from(text, 'latin1').toString();
}
