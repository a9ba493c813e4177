import { parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { isText } from '../embed/inline.ts';
import { type FoundEmbed, lineAt, scan } from '../embed/scan.ts';
import { type ErrorCode, isSnippetFailure, SiteError } from '../failures/errors.ts';
import type { InvalidEmbed } from '../failures/report.ts';

/** A request, and everything on the site that needs it. It is made once, however many embeds show its snippet. */
export interface SnippetUse {
  request: SnippetRequest;
  /** The names of pages, and of entries of collections. */
  places: Set<string>;
  /** Those where no children can be shown instead. */
  placesWithoutChildren: Set<string>;
  /** Whether it is shown as HTML anywhere, and not only as text. */
  asHtml: boolean;
}

/** By the keys of their requests. */
export type SnippetUses = Map<string, SnippetUse>;

/** Returns the use of a request, and adds it if it is new. */
export function snippetUse(uses: SnippetUses, request: SnippetRequest): SnippetUse {
  let use = uses.get(request.key);
  if (use === undefined) {
    use = { request, places: new Set(), placesWithoutChildren: new Set(), asHtml: false };
    uses.set(request.key, use);
  }
  return use;
}

export interface PageEmbed extends FoundEmbed {
  request: SnippetRequest;
}

export interface PageEmbeds {
  embeds: PageEmbed[];
  invalid: InvalidEmbed[];
}

/**
 * Finds the embeds of a page, and adds what they need to `uses`.
 *
 * @param name how people know the page.
 */
export function readPageEmbeds(name: string, page: Buffer, uses: SnippetUses): PageEmbeds {
  const { embeds: found, faults } = scan(page);
  const embeds: PageEmbed[] = [];
  const invalid = faults.map((fault) =>
    fault.flaw === 'unclosed'
      ? { start: fault.start, code: 'embed-unclosed' as ErrorCode, message: 'The embed has no end tag.' }
      : {
          start: fault.start,
          code: 'embed-nested' as ErrorCode,
          message: `The embed is inside the one of line ${lineAt(page, fault.outer)}.`,
        },
  );
  for (const embed of found) {
    try {
      const request = requestOf(embed);
      addUse(uses, request, embed, name);
      embeds.push({ ...embed, request });
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      invalid.push({ start: embed.start, code: error.code, message: error.message });
    }
  }
  return {
    embeds,
    invalid: invalid
      .sort((a, b) => a.start - b.start)
      .map(({ start, code, message }) => ({ page: name, line: lineAt(page, start), code, message })),
  };
}

function requestOf({ attributes, inIsland }: FoundEmbed): SnippetRequest {
  const request = parseRequest(attributes.id, attributes.params);
  if (attributes.as !== undefined && attributes.as !== 'html' && attributes.as !== 'text') {
    throw new SiteError('invalid-as', 'The attribute `as` of an embed must be "html" or "text".');
  }
  if (inIsland) {
    throw new SiteError(
      'embed-in-island',
      `The embed of snippet ${request.id} is in an island's own markup, and would vanish when the island hydrates.`,
    );
  }
  return request;
}

function addUse(uses: SnippetUses, request: SnippetRequest, embed: FoundEmbed, page: string): void {
  const use = snippetUse(uses, request);
  use.asHtml ||= !isText(embed);
  use.places.add(page);
  if (embed.fallback.start === embed.fallback.end) use.placesWithoutChildren.add(page);
}
