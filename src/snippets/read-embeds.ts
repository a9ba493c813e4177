import { parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { intendedAttribute } from '../embed/element.ts';
import type { FileKind, FoundEmbed, PlacedEmbed } from '../embed/found-embed.ts';
import { scan } from '../embed/scan.ts';
import type { EmbedNote } from '../failures/embed-notes.ts';
import { isSnippetFailure, SiteError } from '../failures/errors.ts';
import { lineFinder } from '../files/lines.ts';
import { andMore, faultTexts, warningTexts } from './embed-messages.ts';
import { addUse, type SnippetUses } from './snippet-use.ts';

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

export function readEmbeds(
  file: ReadableFile,
  uses: SnippetUses,
): {
  embeds: FileEmbed[];
  invalid: {
    code:
      | 'missing-key'
      | 'missing-url'
      | 'unreadable-key-file'
      | 'exposed-key'
      | 'published-key'
      | 'late-embed'
      | 'stale-compressed-file'
      | 'missing-integration'
      | 'duplicate-integration'
      | 'on-demand-page'
      | 'embed-in-browser'
      | 'missing-manifest'
      | 'output-in-use'
      | 'missing-output'
      | 'unusable-output'
      | 'webhook-secret'
      | 'cannot-listen'
      | 'unwritable-file'
      | 'rate-limited'
      | 'server-error'
      | 'bad-answer'
      | 'network'
      | 'timeout'
      | 'unavailable'
      | 'not-cached'
      | 'forbidden'
      | 'not-found'
      | 'no-route'
      | 'unexpected-status'
      | 'redirect'
      | 'no-content'
      | 'certificate'
      | 'too-large'
      | 'invalid-id'
      | 'invalid-params'
      | 'invalid-options'
      | 'aborted'
      | 'closed'
      | 'sanitize-failed'
      | 'too-many-tags'
      | 'script-refused'
      | 'left-open'
      | 'embed-unclosed'
      | 'embed-nested'
      | 'embed-in-island'
      | 'embed-in-script'
      | 'embed-in-attribute'
      | 'embed-in-xml'
      | 'embed-lost'
      | 'unrendered-component'
      | 'unknown-attribute'
      | 'invalid-as'
      | 'invalid-optional'
      | 'params-failed'
      | 'unauthorized'
      | 'payment-required'
      | 'unsupported-node';
    message: string;
    id: string | undefined;
    file: string;
    line: number;
  }[];
  warnings: EmbedNote[];
} {
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
    const message = `The embed has the unknown attribute \`${misspelled}\`. Did you mean \`${intendedAttribute(misspelled)}\`?`;
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
