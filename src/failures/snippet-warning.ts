import { describePlaces } from './describe-failures.ts';
import type { PlaceOf } from './embed-notes.ts';
import type { PlacedRequest } from './places.ts';
import type { WarningCode } from './warning-table.ts';

/** A flaw of a snippet's content that does not fail the build. */
export interface SnippetFlaw {
  code: WarningCode;
  /** Whole sentences for people, which begin with the name of the snippet. */
  message: string;
  /** The line of the content that has the flaw, from 1; `undefined` if that is not known. */
  line?: number | undefined;
}

/** A flaw of a snippet, and the places that show it. */
export interface SnippetWarning extends SnippetFlaw, PlacedRequest {
  /** The line in each file that has the first embed of the snippet there, where that says more. */
  lines?: Map<string, number> | undefined;
}

/** A place that shows a snippet. */
export interface FlawPlace {
  request: PlacedRequest['request'];
  /** The name of a file, or of an entry of a collection. */
  place: string;
  /** The line of the file that has the embed. */
  line?: number;
}

/** Collects warnings: a flaw that a snippet has in many places is one. Finish one place before the next. */
export class WarningList {
  readonly #warnings = new Map<string, SnippetWarning>();

  add({ code, message, line }: SnippetFlaw, { request, place, line: embedLine }: FlawPlace): void {
    const key = JSON.stringify([request.key, code, message, line]);
    let warning = this.#warnings.get(key);
    if (!warning) {
      warning = { request, code, message, line, places: [], placesWithoutChildren: [] };
      this.#warnings.set(key, warning);
    }
    // Places are added one after the other, so only the last one is compared.
    if (warning.places.at(-1) !== place) warning.places.push(place);
    if (embedLine === undefined) return;
    warning.lines ??= new Map();
    if (!warning.lines.has(place)) warning.lines.set(place, embedLine);
  }

  get list(): SnippetWarning[] {
    return [...this.#warnings.values()];
  }
}

/**
 * Describes warnings for a log, each in one line with its places and its code. A snippet has the same flaw with
 * other params, so warnings with equal messages are one line.
 */
export function warningLines(warnings: readonly SnippetWarning[], placeOf?: PlaceOf): string[] {
  const groups = Map.groupBy(warnings, ({ code, message }) => `${code} ${message}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const shownPlaces = group.flatMap(({ places, lines }) =>
      places.map((place) => (lines?.has(place) ? `${place}:${lines.get(place)}` : place)),
    );
    const places = [...new Set(shownPlaces)];
    return `${first.message} It is on ${describePlaces({ ...first, places }, placeOf)}. [${first.code}]`;
  });
}

/** A flaw as a snippet's content has it: the end of a sentence that begins with the name of the snippet. */
export interface ContentFlaw extends Omit<SnippetFlaw, 'message'> {
  text: string;
}

/** Completes the sentence about a flaw. @param subject the name of the snippet */
export function toSnippetFlaw(subject: string, { text, ...flaw }: ContentFlaw): SnippetFlaw {
  return { ...flaw, message: `${subject} ${text}` };
}
