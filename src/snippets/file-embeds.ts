import { reasonOf } from '../client/clean-text.ts';
import { count } from '../client/format.ts';
import { SnippetError } from '../client/snippet-error.ts';
import {
  createRequest,
  type Params,
  paramsObject,
  parseRequest,
  type SnippetRequest,
} from '../client/snippet-request.ts';
import { isBlockLevel } from '../embed/html-scanner.ts';
import type { PlacedEmbed } from '../embed/inline.ts';
import { type EmbedFault, type EmbedWarning, type FileKind, type FoundEmbed, scan } from '../embed/scan.ts';
import { isSnippetFailure, SiteError } from '../failures/errors.ts';
import type { InvalidEmbed } from '../failures/report.ts';
import type { ParsedOptions } from '../settings/options.ts';

/** A request, and everything on the site that needs it. It is made once, however many embeds show its snippet. */
export interface SnippetUse {
  request: SnippetRequest;
  /** The names of files, and of entries of collections, each once. */
  places: string[];
  /** Those where no children can be shown instead. */
  placesWithoutChildren: string[];
  /** Those where each of its embeds is optional. */
  optionalPlaces?: Set<string>;
  /** Whether it is shown as HTML anywhere, and not only as text. */
  asHtml: boolean;
}

/** By the keys of their requests. */
export type SnippetUses = Map<string, SnippetUse>;

/** Returns the use of a request, and adds it if it is new. */
export function snippetUse(uses: SnippetUses, request: SnippetRequest): SnippetUse {
  let use = uses.get(request.key);
  if (use === undefined) {
    use = { request, places: [], placesWithoutChildren: [], asHtml: false };
    uses.set(request.key, use);
  }
  return use;
}

/** What is kept of an embed until it is inlined. */
export interface FileEmbed extends PlacedEmbed {
  request: SnippetRequest;
  /** The key of the request as the embed is written, if the site adds params to it. */
  written?: string;
  inHeading: boolean;
  inParagraph: boolean;
  isOptional?: true;
}

export interface FileEmbeds {
  embeds: FileEmbed[];
  invalid: InvalidEmbed[];
  /** Text that looks like an embed, but is not one: a line for people each. */
  warnings: string[];
}

/** A file that is searched for embeds. */
export interface ReadableFile {
  /** How people know it. */
  name: string;
  bytes: Buffer;
  kind: FileKind;
  addParams?: AddPageParams | undefined;
}

/** Finds the embeds of a file, and adds what they need to `uses`. */
export function readEmbeds(
  { name, bytes: file, kind, addParams = (request) => request }: ReadableFile,
  uses: SnippetUses,
): FileEmbeds {
  const { embeds: found, faults, warnings } = scan(file, kind);
  const lineOf = lineFinder(file);
  const embeds: FileEmbed[] = [];
  const invalid = faults.map((fault) => ({
    start: fault.start,
    ...describeFault(fault, lineOf),
    id: idAt(file, fault.start),
  }));
  for (const embed of found) {
    try {
      const written = requestOf(embed);
      const use = addUse(uses, addParams(written, embed.lang), embed, name);
      embeds.push(kept(embed, use, written.key));
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      invalid.push({
        start: embed.start,
        code: error.code,
        message: error.message,
        id: embed.attributes.id ?? '',
      });
    }
  }
  return {
    embeds,
    invalid: invalid
      .sort((a, b) => a.start - b.start)
      .map(({ start, ...described }) => ({ file: name, line: lineOf(start), ...described })),
    warnings: describeWarnings(name, warnings, lineOf),
  };
}

function requestOf({ attributes, inIsland }: FoundEmbed): SnippetRequest {
  const request = parseRequest(attributes.id, attributes.params);
  if (attributes.as !== undefined && attributes.as !== 'html' && attributes.as !== 'text') {
    throw new SiteError('invalid-as', 'The attribute `as` of an embed must be "html" or "text".');
  }
  if (attributes.optional !== undefined && !optionalValues.has(attributes.optional)) {
    throw new SiteError('invalid-optional', 'The attribute `optional` of an embed takes no value.');
  }
  if (inIsland) {
    throw new SiteError(
      'embed-in-island',
      `The embed of snippet ${request.id} is in an island's own markup, and would vanish when the island hydrates.`,
    );
  }
  return request;
}

// What frameworks make of a boolean.
const optionalValues: ReadonlyMap<string, boolean> = new Map([
  ['', true],
  ['optional', true],
  ['true', true],
  ['false', false],
]);

function isOptional({ attributes }: FoundEmbed): boolean {
  return optionalValues.get(attributes.optional ?? 'false') ?? false;
}

function addUse(uses: SnippetUses, request: SnippetRequest, embed: FoundEmbed, file: string): SnippetUse {
  const { form, children } = embed;
  const use = snippetUse(uses, request);
  // A file is read as a whole before the next one.
  if (!isOptional(embed)) use.optionalPlaces?.delete(file);
  else if (use.places.at(-1) !== file) use.optionalPlaces = (use.optionalPlaces ?? new Set()).add(file);
  use.asHtml ||= form.as === 'html';
  if (use.places.at(-1) !== file) use.places.push(file);
  if (children.start === children.end && use.placesWithoutChildren.at(-1) !== file) {
    use.placesWithoutChildren.push(file);
  }
  return use;
}

// Shared, as most embeds of a site have none.
const noChildren: FileEmbed['children'] = { start: 0, end: 0, isBlockLevel: false };

/** Without the attributes: they are in the request, and as parts of the page's text they would keep all of it in memory. */
function kept(found: FoundEmbed, { request }: SnippetUse, written: string): FileEmbed {
  const { start, end, form, inHeading, inParagraph, paragraph } = found;
  const children = found.children.start === found.children.end ? noChildren : found.children;
  const embed: FileEmbed = { start, end, children, form, inHeading, inParagraph, request };
  if (paragraph !== undefined) embed.paragraph = paragraph;
  if (isOptional(found)) embed.isOptional = true;
  if (written !== request.key) embed.written = written;
  return embed;
}

/** The id of a tag, even if Markdown or an encoding has rewritten its attributes. */
function idAt(file: Buffer, start: number): string | undefined {
  const [tag = ''] = file.toString('latin1', start, start + 1000).split('>');
  return /\bid\s*=(?:[\s"'{\\]|&\w+;|&#\w+;|%\w\w)*([\w.-]+)/i.exec(tag)?.[1];
}

type Described = Pick<InvalidEmbed, 'code' | 'message'>;

function describeFault(fault: EmbedFault, lineOf: (offset: number) => number): Described {
  if (fault.flaw === 'nested') {
    return { code: 'embed-nested', message: `The embed is inside the one of line ${lineOf(fault.outer)}.` };
  }
  if (fault.flaw === 'in-attribute') {
    const message = `The embed is in the attribute ${fault.attribute}, which contains code.`;
    return { code: 'embed-in-attribute', message };
  }
  return otherFaults[fault.flaw];
}

type OtherFault = Exclude<EmbedFault['flaw'], 'nested' | 'in-attribute'>;

const otherFaults: Readonly<Record<OtherFault, Described>> = {
  unclosed: { code: 'embed-unclosed', message: 'The embed has no end tag.' },
  'in-script': { code: 'embed-in-script', message: 'The embed is in a script that runs.' },
  'in-style': { code: 'embed-in-script', message: 'The embed is in a style sheet.' },
  'in-xml': { code: 'embed-in-xml', message: 'The embed is an element of XML.' },
  unrendered: {
    code: 'unrendered-component',
    message: '<Snippet> was not rendered: it is in the page as it was written.',
  },
};

/** One line for each kind of flaw: a title that mentions the element may be in twenty places of a page. */
function describeWarnings(
  name: string,
  warnings: readonly EmbedWarning[],
  lineOf: (offset: number) => number,
): string[] {
  return firstOfEach(warnings, ({ flaw }) => flaw).map(
    ({ first, andMore }) => `${name}:${lineOf(first.start)}${andMore}: ${warningTexts[first.flaw]}`,
  );
}

/** The first of each kind, with how many more there are of it, for people. */
function firstOfEach<T>(all: Iterable<T>, kindOf: (one: T) => unknown): { first: T; andMore: string }[] {
  return [...Map.groupBy(all, kindOf).values()].map((group) => ({
    first: group[0] as T,
    andMore: group.length === 1 ? '' : ` and ${count(group.length - 1, 'more time')}`,
  }));
}

const left =
  'It is left as it is. If it is an example, silence this with data-snippets-ignore or the option exclude.';

const warningTexts: Readonly<Record<EmbedWarning['flaw'], string>> = {
  unclosed: `text that looks like an embed has no end tag. ${left}`,
  nested: `text looks like an embed inside another embed. ${left}`,
  unrendered:
    'shows the text of a <Snippet> that was not rendered. Markdown renders no components: write <snippet-embed id="42"></snippet-embed> there, or rename the file to .mdx. Put an example between backticks.',
  'invalid-id': `text that looks like an embed has no valid id. ${left}`,
  'in-xhtml':
    'shows a snippet in XHTML. Browsers that read the page as XML show none of it if the HTML of the snippet is not well-formed. Serve the page as text/html, or use as="text".',
  'utf-16': 'the file is UTF-16, in which embeds are not found, and stay. Write it as UTF-8.',
  'in-code':
    'an embed is in a fence or between backticks, in text that may be Markdown or HTML. It is left as it is. If it is an example, write it in <code>, or silence this with the option exclude. Otherwise, write the backticks before it as &#96;.',
};

/** Returns a function that tells the line of a byte of a file, counted from 1. The file is read once, when first asked. */
export function lineFinder(file: Buffer): (offset: number) => number {
  let ends: number[] | undefined;
  return (offset) => {
    ends ??= lineEnds(file);
    const before = ends.findIndex((end) => end >= offset);
    return (before === -1 ? ends.length : before) + 1;
  };
}

function lineEnds(file: Buffer): number[] {
  const ends: number[] = [];
  for (let at = file.indexOf('\n'); at !== -1; at = file.indexOf('\n', at + 1)) ends.push(at);
  return ends;
}

/** A page before its snippets are inlined. */
export interface PageWithEmbeds {
  /** How people know it. */
  name: string;
  embeds: readonly FileEmbed[];
  /** Its bytes. Only called for a page that gets a warning. */
  read(): Buffer;
}

/**
 * Warns about each snippet with block-level content in a paragraph that contains something else, too: a browser ends the
 * paragraph there. One warning for each snippet, with its first place.
 *
 * @param htmlOf the HTML of a snippet by the key of its request; `undefined` if it has none.
 * @param placeOf says where a snippet is written; empty if that is not known.
 */
export function blockWarnings(
  pages: Iterable<PageWithEmbeds>,
  htmlOf: (key: string) => string | undefined,
  placeOf: (id: number) => string = () => '',
): string[] {
  const known = new Map<string, boolean>();
  const isBlock = (key: string) => {
    if (!known.has(key)) known.set(key, isBlockLevel(htmlOf(key) ?? ''));
    return known.get(key) === true;
  };
  const found: { page: PageWithEmbeds; start: number; id: number }[] = [];
  for (const page of pages) {
    for (const { request, start, form, inParagraph, paragraph } of page.embeds) {
      if (!inParagraph || paragraph !== undefined || form.as !== 'html' || form.layers.length > 0) continue;
      if (isBlock(request.key)) found.push({ page, start, id: request.id });
    }
  }
  return firstOfEach(found, ({ id }) => id).map(({ first: { page, start, id }, andMore }) => {
    const place = placeOf(id);
    return `${page.name}:${lineFinder(page.read())(start)}${andMore}: the content of snippet ${id} is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into a paragraph of its own.${place && ` Snippet ${id} is ${place}.`}`;
  });
}

/** Adds what the site passes to every snippet of a page to the request of one embed. */
export type AddPageParams = (request: SnippetRequest, lang: string | undefined) => SnippetRequest;

/**
 * Adds what the option `params` returns for a page to requests. The params of a request win. The function is asked once
 * for each language of the page.
 *
 * @returns a function that throws SiteError `params-failed`, or SnippetError `invalid-params`; `undefined` without the
 * option.
 */
export function pageParams(params: ParsedOptions['params'], page: string): AddPageParams | undefined {
  if (params === undefined) return undefined;
  const known = new Map<string | undefined, Params | SiteError | undefined>();
  return (request, lang) => {
    if (!known.has(lang)) known.set(lang, askFor(params, page, lang));
    const added = known.get(lang);
    if (added instanceof SiteError) throw added;
    return added === undefined ? request : createRequest(request.id, { ...added, ...paramsObject(request) });
  };
}

function askFor(
  params: NonNullable<ParsedOptions['params']>,
  page: string,
  lang: string | undefined,
): Params | SiteError | undefined {
  try {
    // The id does not matter. Checked as the params of an embed are.
    return paramsObject(createRequest(1, params({ page, lang })));
  } catch (error) {
    const reason = error instanceof SnippetError ? error.reason : reasonOf(error);
    return new SiteError('params-failed', `The option \`params\` failed for ${page}: ${reason}`);
  }
}
