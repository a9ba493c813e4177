import type { Params } from '../client/params.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, paramsObject, parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { intendedAttribute } from '../embed/element.ts';
import { foreignAdvice } from '../embed/foreign-attributes.ts';
import type { EmbedFault, FileKind, FoundEmbed, PlacedEmbed, ScanWarning } from '../embed/found-embed.ts';
import { scan } from '../embed/scan.ts';
import type { EmbedNote, InvalidEmbed } from '../failures/embed-notes.ts';
import { isSnippetFailure, SiteError } from '../failures/errors.ts';
import { lineFinder } from '../files/lines.ts';
import type { ParsedOptions } from '../settings/options.ts';
import { cleanText, quote, reasonOf } from '../text/clean-text.ts';
import { andMore, faultTexts, warningTexts } from './embed-messages.ts';
import { addUse, type SnippetUses } from './snippet-use.ts';

/** A valid embed in a file, and the snippet that it shows. */
export interface FileEmbed extends PlacedEmbed, Pick<FoundEmbed, 'inHeading' | 'around'> {
  /** The request, including the params that the option `params` adds. */
  request: SnippetRequest;
  /** The request's key without the params that the site adds; `undefined` if it adds none. */
  written: string | undefined;
}

/** Adds the params that the site passes to every snippet of a page in this language. */
export type AddParams = (request: SnippetRequest, lang: string | undefined) => SnippetRequest;

/** A file in which embeds are read. */
export interface ReadableFile {
  /** The path of the file in the output, which messages show. */
  name: string;
  bytes: Buffer;
  kind: FileKind;
  addParams?: AddParams | undefined;
  /** Whether the published file shows snippets of an earlier run: children must not replace these. */
  showsSnippets?: boolean;
}

/** The embeds of a file, valid or not. Each list is in the order of the file. */
export interface EmbedReading {
  /** Valid embeds. */
  embeds: FileEmbed[];
  /** Embeds that fail the build. */
  invalid: InvalidEmbed[];
  /** Notes about embeds that may not work, or may not be meant: one for each kind of flaw. */
  warnings: EmbedNote[];
  /** Scripts that mention the element and hold no embed, with the places where they begin: "index.html:12". */
  scripts: { place: string; code: string }[];
}

/** An invalid embed with its byte offset, from which its line is found later. */
type RefusedEmbed = Pick<InvalidEmbed, 'code' | 'message' | 'id'> & { start: number };

type LineOf = (offset: number) => number;

/** Most embeds have no children, so they share this object. */
const noChildren: FoundEmbed['children'] = { start: 0, end: 0 };

/** Finds the embeds of a file, reads what they request, and adds that to `uses`, the needs of the site. */
export function readEmbeds(file: ReadableFile, uses: SnippetUses): EmbedReading {
  const { name, bytes, kind } = file;
  const { embeds: foundEmbeds, faults, warnings, scripts = [] } = scan(bytes, kind);
  const lineOf = lineFinder(bytes);

  const refusals = faults.map((fault) => refuseFault(fault, bytes, lineOf));
  const embeds: FileEmbed[] = [];
  for (const embed of foundEmbeds) {
    try {
      embeds.push(readEmbed(embed, file, uses));
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      const { code, message } = error;
      refusals.push({ start: embed.start, code, message, id: embed.attributes.id ?? '' });
    }
  }

  refusals.sort((a, b) => a.start - b.start);
  return {
    // Copied, as `push` leaves spare capacity in each array, and a site has thousands of them.
    embeds: embeds.slice(),
    invalid: refusals.map(({ start, ...refusal }) => ({ file: name, line: lineOf(start), ...refusal })),
    warnings: describeWarnings(file, warnings, lineOf),
    scripts: scripts.map(({ start, code }) => ({ place: `${name}:${lineOf(start)}`, code })),
  };
}

function refuseFault(fault: EmbedFault, bytes: Buffer, lineOf: LineOf): RefusedEmbed {
  const { start, flaw, outer = 0, holder = '' } = fault;
  const { code, text } = faultTexts[flaw];
  // The replacements are functions, so that `$&` in the name of an attribute stays as it is.
  const message = text.replace('{line}', () => `${lineOf(outer)}`).replace('{holder}', () => holder);
  return { start, code, message, id: idAt(bytes, start) };
}

/** @throws SnippetError or SiteError if the embed is invalid */
function readEmbed(embed: FoundEmbed, file: ReadableFile, uses: SnippetUses): FileEmbed {
  const { attributes, lang, start, end, format, paragraph, inHeading, around } = embed;
  const { name, addParams, showsSnippets } = file;
  const children = embed.children.start < embed.children.end ? embed.children : noChildren;
  const writtenRequest = parseEmbedRequest(embed);
  const fullRequest = addParams ? addParams(writtenRequest, lang) : writtenRequest;

  // Embeds of the same snippet share the request of their use.
  const { request } = addUse(uses, fullRequest, name, {
    hasChildren: !showsSnippets && children !== noChildren,
    isOptional: (attributes.optional ?? 'false') !== 'false',
    asHtml: format.as === 'html',
    asUrl: format.as === 'url',
    inTemplate: format.layers.includes('script-template'),
  });
  const written = writtenRequest.key === request.key ? undefined : writtenRequest.key;
  // Attributes are left out: as parts of the page's text, they would keep all of it in memory. Fields are
  // listed: an object made with a spread takes twice as much memory.
  return { start, end, children, format, paragraph, inHeading, around, request, written };
}

/** @throws SnippetError or SiteError if an attribute is invalid, or an island would remove the embed */
function parseEmbedRequest({ attributes, inIsland, misspelled, foreign }: FoundEmbed): SnippetRequest {
  if (misspelled) {
    const message = `The embed has the unknown attribute \`${misspelled}\`. Did you mean \`${intendedAttribute(misspelled)}\`?`;
    throw new SiteError('unknown-attribute', message);
  }
  const { id, params, as = 'html', optional = 'false' } = attributes;
  const request = parseRequest(id, params);
  if (as !== 'html' && as !== 'text') {
    const flaw = `must be "html" or "text", not ${quote(as)}`;
    throw new SiteError('invalid-as', `The attribute \`as\` of an embed ${flaw}.`);
  }
  // Frameworks write a boolean attribute in one of these ways, so all are allowed.
  if (!/^(?:optional|true|false)?$/.test(optional)) {
    const flaw = `takes no value, and has ${quote(optional)}`;
    throw new SiteError('invalid-optional', `The attribute \`optional\` of an embed ${flaw}.`);
  }
  if (inIsland) {
    const place = "in an island's own markup, and would vanish when the island hydrates";
    throw new SiteError('embed-in-island', `The embed of snippet ${request.id} is ${place}.`);
  }
  if (foreign) {
    const message = `The embed has the unknown attribute \`${cleanText(foreign)}\`. ${foreignAdvice(foreign)}`;
    throw new SiteError('unknown-attribute', message);
  }
  return request;
}

/** Describes each kind of flaw once, as a page may repeat one, such as a title that shows an embed, often. */
function describeWarnings(file: ReadableFile, warnings: ScanWarning[], lineOf: LineOf): EmbedNote[] {
  const warningsByFlaw = Map.groupBy(warnings, ({ flaw }) => flaw);
  return [...warningsByFlaw].map(([flaw, places]) => {
    const start = places[0]?.start ?? 0;
    const line = lineOf(start);
    const hasId = flaw !== 'utf-16' && flaw !== 'in-id';
    return {
      file: file.name,
      line,
      id: hasId ? idAt(file.bytes, start) : undefined,
      code: flaw === 'unrendered' ? 'unrendered-component' : undefined,
      isDoubtful: flaw !== 'in-xhtml',
      message: `${file.name}:${line}${andMore(places.length - 1)}: ${warningTexts[flaw]}`,
    };
  });
}

/** How much of a tag is searched for its id, in bytes. */
const searchedTagLength = 1000;

/** The `id` of the tag at an offset, even if Markdown or escapes have changed how it is written. */
function idAt(file: Buffer, start: number): string | undefined {
  const [tag = ''] = file.toString('latin1', start, start + searchedTagLength).split(/>|&gt;/);
  return /\bid\s*=(?:[\s"'{\\]|&\w+;|&#\w+;|%\w\w)*([\w.-]+)/i.exec(tag)?.[1];
}

/**
 * Adds what the option `params` returns for a page to the requests of its embeds, whose own params win. The
 * option is called once for each language of the page. What it throws, or returns besides valid params, makes
 * the embed invalid.
 *
 * @param page the path of the page, as the site publishes it
 */
export function pageParams(option: ParsedOptions['params'], page: string): AddParams | undefined {
  if (!option) return undefined;
  const paramsByLanguage = new Map<string | undefined, Params | undefined>();

  const paramsFor = (lang: string | undefined) => {
    if (paramsByLanguage.has(lang)) return paramsByLanguage.get(lang);
    try {
      // A request (the id does not matter) checks these params like those of an embed.
      const params = paramsObject(createRequest(1, option({ page, lang })));
      paramsByLanguage.set(lang, params);
      return params;
    } catch (error) {
      const reason = error instanceof SnippetError ? error.reason : reasonOf(error);
      throw new SiteError('params-failed', `The option \`params\` failed for ${page}: ${reason}`);
    }
  };

  return (request, lang) => {
    const added = paramsFor(lang);
    return added ? createRequest(request.id, { ...added, ...paramsObject(request) }) : request;
  };
}
