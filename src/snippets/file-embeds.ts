import {
  createRequest,
  paramsObject,
  parseRequest,
  SnippetError,
  type SnippetRequest,
} from '../client/snippet-request.ts';
import { count, reasonOf } from '../client/text.ts';
import { intendedName } from '../embed/element.ts';
import { isBlockLevel } from '../embed/html-scanner.ts';
import type { PlacedEmbed } from '../embed/inline.ts';
import { type EmbedFault, type FileKind, type FoundEmbed, type ScanWarning, scan } from '../embed/scan.ts';
import {
  type EmbedNote,
  type ErrorCode,
  isSnippetFailure,
  type PlacedRequest,
  type PlaceOf,
  SiteError,
} from '../failures/errors.ts';
import type { ParsedOptions } from '../settings/options.ts';

/** A request, and everything on the site that needs it. */
export interface SnippetUse extends PlacedRequest {
  asHtml: boolean;
}

/** By the keys of their requests. */
export type SnippetUses = Map<string, SnippetUse>;

/** Notes that the place with this name needs a snippet. */
export function addUse(
  uses: SnippetUses,
  request: SnippetRequest,
  name: string,
  { hasChildren = false, isOptional = false, asHtml = true } = {},
): SnippetUse {
  const known = uses.get(request.key);
  const use = known ?? { request, places: [], placesWithoutChildren: [], asHtml: false };
  if (!known) uses.set(request.key, use);
  const { places, placesWithoutChildren } = use;
  // The places of one file come one after the other.
  if (!isOptional) use.optionalPlaces?.delete(name);
  else if (places.at(-1) !== name) use.optionalPlaces = (use.optionalPlaces ?? new Set()).add(name);
  if (places.at(-1) !== name) places.push(name);
  if (!hasChildren && placesWithoutChildren.at(-1) !== name) placesWithoutChildren.push(name);
  use.asHtml ||= asHtml;
  return use;
}

export interface FileEmbed extends PlacedEmbed, Pick<FoundEmbed, 'inHeading' | 'inParagraph'> {
  request: SnippetRequest;
  /** The key without the params that the site adds, if it does. */
  written: string | undefined;
}

export interface ReadableFile {
  name: string;
  bytes: Buffer;
  kind: FileKind;
  addParams?: ((request: SnippetRequest, lang: string | undefined) => SnippetRequest) | undefined;
  /** Whether it shows snippets already, which are no children. */
  isInlined?: boolean;
}

// Shared: most embeds have none.
const noChildren: FoundEmbed['children'] = { start: 0, end: 0 };

export function readEmbeds(file: ReadableFile, uses: SnippetUses) {
  const { name, bytes, kind, addParams = (request) => request, isInlined = false } = file;
  const { embeds: found, faults, warnings } = scan(bytes, kind);
  const lineOf = lineFinder(bytes);
  const embeds: FileEmbed[] = [];
  const invalid = faults.map(({ start, flaw, outer = 0, attribute = '' }) => {
    const [code, text] = faultTexts[flaw];
    const message = text.replace('{line}', () => `${lineOf(outer)}`).replace('{attribute}', () => attribute);
    return { start, code, message, id: idAt(bytes, start) };
  });
  for (const one of found) {
    // Without attributes: parts of the page's text keep all of it in memory.
    const { attributes, lang, start, end, format, paragraph, inHeading, inParagraph } = one;
    const children = one.children.start < one.children.end ? one.children : noChildren;
    try {
      const written = embedRequest(one);
      const { request } = addUse(uses, addParams(written, lang), name, {
        hasChildren: !isInlined && children !== noChildren,
        isOptional: (attributes.optional ?? 'false') !== 'false',
        asHtml: format.as === 'html',
      });
      const key = written.key === request.key ? undefined : written.key;
      // With a spread, each would take twice as much memory.
      embeds.push({ start, end, children, format, paragraph, inHeading, inParagraph, request, written: key });
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      const { code, message } = error;
      invalid.push({ start, code, message, id: attributes.id ?? '' });
    }
  }
  invalid.sort((a, b) => a.start - b.start);
  const described = invalid.map(({ start, ...one }) => ({ file: name, line: lineOf(start), ...one }));
  // One for each kind: a title that mentions the element may be in twenty places.
  const groups = Map.groupBy(warnings, ({ flaw }) => flaw);
  const notes: EmbedNote[] = [...groups].map(([flaw, [{ start } = { start: 0 }, ...others]]) => ({
    file: name,
    line: lineOf(start),
    id: flaw === 'utf-16' || flaw === 'in-id' ? undefined : idAt(bytes, start),
    code: flaw === 'unrendered' ? 'unrendered-component' : undefined,
    isDoubtful: flaw !== 'in-xhtml',
    message: `${name}:${lineOf(start)}${andMore(others.length)}: ${warningTexts[flaw]}`,
  }));
  // Without the room for more of them.
  return { embeds: embeds.slice(), invalid: described, warnings: notes };
}

function embedRequest({ attributes, inIsland, misspelled }: FoundEmbed) {
  if (misspelled) {
    const message = `The embed has the unknown attribute \`${misspelled}\`. Did you mean \`${intendedName(misspelled)}\`?`;
    throw new SiteError('unknown-attribute', message);
  }
  const { id, params, as = 'html', optional = 'false' } = attributes;
  const request = parseRequest(id, params);
  if (as !== 'html' && as !== 'text') {
    throw new SiteError('invalid-as', 'The attribute `as` of an embed must be "html" or "text".');
  }
  // What frameworks make of a boolean.
  if (!/^(?:optional|true|false)?$/.test(optional)) {
    throw new SiteError('invalid-optional', 'The attribute `optional` of an embed takes no value.');
  }
  if (inIsland) {
    const place = "in an island's own markup, and would vanish when the island hydrates";
    throw new SiteError('embed-in-island', `The embed of snippet ${request.id} is ${place}.`);
  }
  return request;
}

/** Even if Markdown or an encoding has rewritten the tag. */
function idAt(file: Buffer, start: number) {
  const [tag = ''] = file.toString('latin1', start, start + 1000).split(/>|&gt;/);
  return /\bid\s*=(?:[\s"'{\\]|&\w+;|&#\w+;|%\w\w)*([\w.-]+)/i.exec(tag)?.[1];
}

const faultTexts: Record<EmbedFault['flaw'], [ErrorCode, string]> = {
  unclosed: ['embed-unclosed', 'The embed has no end tag.'],
  nested: ['embed-nested', 'The embed is inside the one of line {line}.'],
  'in-attribute': ['embed-in-attribute', 'The embed is in the attribute {attribute}, which contains code.'],
  'in-script': ['embed-in-script', 'The embed is in a script that runs.'],
  'in-style': ['embed-in-script', 'The embed is in a style sheet.'],
  'in-xml': ['embed-in-xml', 'The embed is an element of XML.'],
  unrendered: ['unrendered-component', '<Snippet> was not rendered: it is in the page as it was written.'],
};

const andMore = (times: number) => (times === 0 ? '' : ` and ${count(times, 'more time')}`);

const leftAsIs =
  'It is left as it is. If it is an example, silence this with data-snippets-ignore or the option exclude.';

const warningTexts: Record<ScanWarning, string> = {
  unclosed: `text that looks like an embed has no end tag. ${leftAsIs}`,
  nested: `text looks like an embed inside another embed. ${leftAsIs}`,
  unrendered:
    'shows the text of a <Snippet> that was not rendered. In Markdown, frontmatter and data, write <snippet-embed id="42"></snippet-embed>. Put an example between backticks.',
  'invalid-id': `text that looks like an embed has no valid id. ${leftAsIs}`,
  'in-id':
    'the id of a heading was made from the tag of an embed, before its snippet was known. Write the heading as <h2 id="…">.',
  'in-xhtml':
    'shows a snippet in XHTML. Browsers that read the page as XML show none of it if the HTML of the snippet is not well-formed. Serve the page as text/html, or use as="text".',
  'utf-16': 'the file is UTF-16, in which embeds are not found, and stay. Write it as UTF-8.',
  'in-code':
    'an embed is in a fence or between backticks, in text that may be Markdown or HTML. It is left as it is. If it is an example, write it in <code>, or silence this with the option exclude. Otherwise, write the backticks before it as &#96;.',
};

/** Tells the lines of bytes, from 1. Reads the file when first asked. */
export function lineFinder(file: Buffer) {
  let ends: number[] | undefined;
  return (offset: number) => {
    ends ??= [...file.toString('latin1').matchAll(/\n|$/g)].map(({ index }) => index);
    return ends.findIndex((end) => end >= offset) + 1;
  };
}

/** Finds blocks in paragraphs with other text, which browsers end there. */
export function blockFinder(htmlOf: (key: string) => string | undefined, placeOf: PlaceOf = () => '') {
  const known = new Map<string, boolean>();
  const isBlock = (key: string) => {
    if (!known.has(key)) known.set(key, isBlockLevel(htmlOf(key) ?? ''));
    return known.get(key);
  };
  const found = new Map<number, { first: string; others: number }>();
  return {
    add(name: string, page: Buffer, embeds: readonly FileEmbed[]) {
      for (const { request, start, format, inParagraph, paragraph } of embeds) {
        if (!inParagraph || paragraph || format.as !== 'html' || format.layers.length > 0) continue;
        if (!isBlock(request.key)) continue;
        const places = found.get(request.id);
        if (places) places.others += 1;
        else found.set(request.id, { first: `${name}:${lineFinder(page)(start)}`, others: 0 });
      }
    },
    /** One for each snippet, with its first place. */
    warnings: () =>
      [...found].map(([id, { first, others }]) => {
        const place = placeOf({ id: String(id) });
        return `${first}${andMore(others)}: the content of snippet ${id} is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into its own paragraph.${place && ` Snippet ${id} is ${place}.`}`;
      }),
  };
}

/** Adds what the option `params` returns to requests, whose own params win. */
export function pageParams(params: ParsedOptions['params'], page: string): ReadableFile['addParams'] {
  if (!params) return undefined;
  const known = new Map<string | undefined, ReturnType<typeof paramsObject>>();
  return (request, lang) => {
    try {
      // Checked as the params of an embed are.
      if (!known.has(lang)) known.set(lang, paramsObject(createRequest(1, params({ page, lang }))));
    } catch (error) {
      const reason = error instanceof SnippetError ? error.reason : reasonOf(error);
      throw new SiteError('params-failed', `The option \`params\` failed for ${page}: ${reason}`);
    }
    const added = known.get(lang);
    return added ? createRequest(request.id, { ...added, ...paramsObject(request) }) : request;
  };
}
