import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toUnicodeEscape } from '../../embed/escapes.ts';
import { shownName } from '../../failures/name-snippet.ts';
import { type Edit, type Range, toByteString } from '../../markup/edits.ts';
import { attributesOf, type Tag } from '../../markup/tags.ts';
import { walk } from '../../markup/walk.ts';
import { editUrlOf, isWebUrl } from '../../settings/edit-url.ts';
import type { Settings } from '../../settings/settings.ts';
import type { FileEmbed } from '../../snippets/read-embeds.ts';
import type { SnippetUse } from '../../snippets/snippet-use.ts';
import { containsKnownKey } from '../../text/known-keys.ts';

/** A snippet in the panel, the list of edit links on a page. */
export interface PanelSnippet {
  /** The URL at which the snippet is edited; `undefined` if there is none. */
  url: string | undefined;
  /** The name of the snippet, if the service sent it. */
  name: string | undefined;
  /** Each request for the snippet on the page (one for each set of params); `undefined` in a build. */
  uses: PanelUse[] | undefined;
  /** Where the sources of the page write an embed of the snippet; `undefined` in a build. */
  sources?: readonly PanelSource[] | undefined;
}

/** A place in the sources that writes an embed. */
export interface PanelSource {
  /** The file, relative to the project, and the line: `src/pages/index.astro:12`. */
  place: string;
  /** The absolute path, the line and the column, as the dev server opens it in an editor. */
  position: string;
}

/** A request for a snippet (its id with certain params), as the panel of `astro dev` describes it. */
export interface PanelUse {
  /** One line for people: the params, the size and the time of the request, joined by dots. */
  facts: string;
  error: string | undefined;
  /** What to do about the error. */
  hint: string | undefined;
  /** The attributes besides the id, as HTML, of the embed that the panel puts on the clipboard. */
  attributes: string;
}

/** The snippets of a page or a site, by their ids. */
export type PanelSnippets = Record<string, PanelSnippet>;

/** The data that gives a page its edit links. */
export interface EditLinks {
  /** What the panel shows of each snippet, by its id; `undefined` for pages without edit links. */
  linked?: Readonly<Record<string, object>> | undefined;
  /** In `astro dev`, the hash of what the page shows. No script is added: the panel is in the toolbar. */
  hash?: string | undefined;
}

/** A page whose embeds are marked by comments, so that the panel finds their contents. */
export interface LinkedPage {
  embeds: readonly FileEmbed[];
  /** The edit that adds the data and the script of the panel; absent for a page without edit links. */
  script?: Edit;
}

/** What only `astro dev` knows of the snippets of a page. */
export interface DevFacts<Use> {
  describeUse(use: Use): PanelUse;
  sourcesOf(id: number): readonly PanelSource[];
}

/** The name of a snippet, cleaned, if it is known. */
type NameOf = (id: number) => string | undefined;

/** Gathers the snippets for the panel, by their ids. @param dev given in `astro dev` only */
export function panelSnippets<Use extends Pick<SnippetUse, 'request'>>(
  uses: readonly Use[],
  nameOf: NameOf,
  urlOf: (id: number) => string | undefined,
  dev?: DevFacts<Use>,
): PanelSnippets {
  const snippets: PanelSnippets = {};
  for (const [id, usesOfSnippet] of Map.groupBy(uses, ({ request }) => request.id)) {
    snippets[id] = {
      url: urlOf(id),
      name: shownName(id, nameOf(id)) || undefined,
      uses: dev && usesOfSnippet.map(dev.describeUse),
      sources: dev?.sourcesOf(id),
    };
  }
  return snippets;
}

/** Gathers the snippets for the panel of a build with `editLinks`. @throws UserError if `editUrl` fails */
export function linkSnippets(
  { editLinks, editUrl }: Settings,
  uses: readonly SnippetUse[],
  nameOf: NameOf,
): PanelSnippets | undefined {
  if (!editLinks || !editUrl) return undefined;
  return panelSnippets(uses, nameOf, (id) => editUrlOf(id, editUrl, isWebUrl));
}

/**
 * Finds where the snippets of a site are edited, for the record. Pages do not show these URLs, so an option that fails
 * leaves them out, and is no reason for a build to fail.
 */
export function recordedEditUrls(
  { editUrl }: Pick<Settings, 'editUrl'>,
  ids: Iterable<number>,
): Record<string, string> | undefined {
  if (!editUrl) return undefined;
  try {
    const urls = [...new Set(ids)].map((id) => [id, editUrlOf(id, editUrl, isWebUrl)] as const);
    return Object.fromEntries(urls.filter(([, url]) => !containsKnownKey(url)));
  } catch {
    return undefined;
  }
}

/** Marks the embeds of a page with comments, where a browser reads these, and adds the data of the panel. */
export function linkPage(page: Buffer, embeds: readonly FileEmbed[], links: EditLinks): LinkedPage {
  const { linked, hash } = links;
  if (!linked) return { embeds };
  const { scriptOffset, unmarked } = readPage(page.toString('latin1'), embeds);
  if (scriptOffset === undefined) return { embeds };

  const snippets = [...Map.groupBy(embeds, ({ request }) => request.id)].map(([id, embedsOfSnippet]) => {
    const places = new Set(embedsOfSnippet.flatMap((embed) => unmarked.get(embed) ?? []));
    return { id, ...linked[id], unmarked: [...places] };
  });
  const script = hash ? '' : `<script type="module">${panelScript()}</script>`;
  const text = toByteString(dataElement(snippets, hash) + script);
  const markEmbed = (embed: FileEmbed): FileEmbed =>
    unmarked.has(embed) ? embed : { ...embed, format: { ...embed.format, mark: `${embed.request.id}` } };
  return { embeds: embeds.map(markEmbed), script: { start: scriptOffset, end: scriptOffset, text } };
}

/** What has to be known of a page to add edit links. */
interface LinkablePage {
  /** The offset at which to add the script; `undefined` for a page that is no document, such as a fragment. */
  scriptOffset: number | undefined;
  /** The embeds in attributes or raw text, which no comment can mark, each with a name for its place. */
  unmarked: ReadonlyMap<FileEmbed, string>;
}

function readPage(page: string, embeds: readonly FileEmbed[]): LinkablePage {
  const unmarked = new Map<FileEmbed, string>();
  let scriptOffset = page.length;
  let isDocument = false;
  // Embeds and the walk are both in the order of the page, so one index passes through all embeds.
  let nextEmbed = 0;
  const leaveUnmarked = (place: Range, describe: (offset: number) => string) => {
    for (; nextEmbed < embeds.length; nextEmbed += 1) {
      const embed = embeds[nextEmbed] as FileEmbed;
      if (embed.start >= place.end) return;
      if (place.start < embed.start) unmarked.set(embed, describe(embed.start));
    }
  };

  walk<string>(page, '', {
    open(tag) {
      const { name } = tag;
      if (name === 'body') scriptOffset = Math.min(scriptOffset, tag.start);
      isDocument ||= ['html', 'head', 'body'].includes(name);
      leaveUnmarked(tag, (offset) => nameAttribute(page, tag, offset));
      return name;
    },
    close(name, tag) {
      const isEndTag = tag.start < tag.end;
      if (name === 'head' && isEndTag) scriptOffset = Math.min(scriptOffset, tag.start);
    },
    text({ start, end }, holder, kind) {
      // Raw text, as in a <textarea>, may begin with an embed: starting one byte earlier includes it.
      if (kind !== 'text') leaveUnmarked({ start: start - 1, end }, () => `<${holder}>`);
    },
    comment(comment) {
      isDocument ||= /^<!doctype\b/i.test(page.slice(comment.start, comment.start + 10));
    },
  });
  return { scriptOffset: isDocument ? scriptOffset : undefined, unmarked };
}

/** Names an attribute for people, such as `content of <meta name="description">`. */
function nameAttribute(page: string, tag: Tag, offset: number): string {
  const attributes = attributesOf(page, tag);
  const attribute = attributes.find(({ start, end }) => start <= offset && offset < end);
  // A page has many <meta> elements, so its name or property tells which one.
  const subject = tag.name === 'meta' && attributes.find(({ name }) => /^(?:name|property)$/.test(name));
  const more = subject ? ` ${subject.name}="${subject.value}"` : '';
  return Buffer.from(`${attribute?.name ?? 'attribute'} of <${tag.name}${more}>`, 'latin1').toString();
}

/** The element with the data of the panel, in ASCII for any encoding. @param hash as in {@link EditLinks} */
export function dataElement(snippets: readonly object[], hash?: string): string {
  const attribute = hash ? ` data-hash="${hash}"` : '';
  // Escaping "<" keeps the data from ending the script element.
  const data = JSON.stringify(snippets).replace(/[<>&\u0080-\uffff]/g, toUnicodeEscape);
  return `<script type="application/json" id="snippet-edit-links"${attribute}>${data}</script>`;
}

// Matches what is removed from panel.js: indentation, blank lines and comments on lines of their own.
const codeComments = /^\s*(?:(?:\/\/.*|\/\*\*[\s\S]*?\*\/)\n\s*)*/gm;

let panelCode: string | undefined;

/** The panel as a script for built pages, without the comments of its source. */
export function panelScript(): string {
  panelCode ??= `${readFileSync(join(import.meta.dirname, 'panel.js'), 'utf8').replace(codeComments, '')}addToPage();\n`;
  return panelCode;
}
