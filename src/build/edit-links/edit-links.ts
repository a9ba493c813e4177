import { attributesOf, type Range, type Tag, walk } from '../../embed/html-scanner.ts';
import type { Replacement } from '../../embed/inline.ts';
import { escapeForScript } from '../../embed/layers.ts';
import { editUrlOf } from '../../settings/settings.ts';
import type { FileEmbed, SnippetUse } from '../../snippets/file-embeds.ts';
import { pageScript } from './page-script.ts';

/** What the script reads of a snippet. */
interface LinkedSnippet {
  id: number;
  url: string;
  /** The places of the page that cannot be marked: `<title>`, `alt of <img>`. */
  unmarked: string[];
}

/** A page whose places are marked, and the script for it. */
interface LinkedPage {
  embeds: FileEmbed[];
  script: Replacement;
}

/**
 * Where each snippet is edited, by its id.
 *
 * @throws AstroError if the function throws, or returns anything but a URL.
 */
export function editUrls(
  uses: readonly Pick<SnippetUse, 'request'>[],
  editUrl: (id: string) => string,
): Record<string, string> {
  const ids = new Set(uses.map(({ request }) => request.id));
  return Object.fromEntries([...ids].map((id) => [id, editUrlOf(id, editUrl, isWebUrl)]));
}

function isWebUrl({ protocol }: URL): boolean {
  return /^https?:$/.test(protocol);
}

/** Adds to pages what leads from the snippets that they show to where each is edited. */
export class EditLinks {
  /** By the ids of snippets. */
  readonly urls: Readonly<Record<string, string>>;
  /** The number of pages so far. */
  pages = 0;
  readonly #hash: string | undefined;

  /** @param hash of what a page of the dev server shows. There, the toolbar brings the script. */
  constructor(urls: Readonly<Record<string, string>>, hash?: string) {
    this.urls = urls;
    this.#hash = hash;
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
      const snippet = linked.get(id) ?? { id, url: this.urls[id] ?? '', unmarked: [] };
      linked.set(id, snippet);
      const place = unmarked.get(embed);
      if (place !== undefined && !snippet.unmarked.includes(place)) snippet.unmarked.push(place);
    }
    return {
      embeds: embeds.map((embed) =>
        unmarked.has(embed) ? embed : { ...embed, form: { ...embed.form, isMarked: true } },
      ),
      script: { start: scriptAt, end: scriptAt, bytes: this.#elements([...linked.values()]) },
    };
  }

  #elements(snippets: readonly LinkedSnippet[]): Buffer {
    const script = this.#hash === undefined ? `<script type="module">${pageScript()}</script>` : '';
    return Buffer.from(dataElement(snippets, this.#hash) + script);
  }
}

/** The id of the element that holds what the scripts of a page read. */
export const dataId = 'snippet-edit-links';

/** @param hash of what the page shows, in `astro dev`. */
export function dataElement(snippets: readonly LinkedSnippet[], hash?: string): string {
  const attribute = hash === undefined ? '' : ` data-hash="${hash}"`;
  const data = escapeForScript(JSON.stringify(snippets));
  return `<script type="application/json" id="${dataId}"${attribute}>${data}</script>`;
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
