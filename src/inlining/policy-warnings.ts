import { describeBlocked, isRestricted, type RestrictedContent } from '../content/blocked.ts';
import { describePlaces } from '../failures/describe-failures.ts';
import type { PlaceOf } from '../failures/embed-notes.ts';
import type { PlacedRequest } from '../failures/places.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { InlinedPage } from './inline-page.ts';

/** How a site treats inline code, and where it is. */
export interface PolicyContext {
  rule: HtmlRules['policy'];
  /** The URL of the site, if it is known. */
  site?: string | undefined;
}

/** Warns of what the Content Security Policies of pages block of the snippets there. */
export class PolicyWarnings {
  readonly #snippets: ReadonlyMap<string, RestrictedContent>;
  readonly #context: PolicyContext;
  /** Where each flaw, a whole sentence, was found. */
  readonly #places = new Map<string, PlacedRequest>();

  /** @param snippets the snippets to warn of, by the keys of their requests */
  constructor(snippets: ReadonlyMap<string, RestrictedContent>, context: PolicyContext) {
    this.#snippets = snippets;
    this.#context = context;
  }

  /** Adds a page. @param name the name of its file */
  add(name: string, { embeds, policies }: InlinedPage): void {
    if (policies?.length === 0) return;
    const { rule, site } = this.#context;
    for (const { request, format } of embeds) {
      const snippet = format.as === 'text' ? undefined : this.#snippets.get(request.key);
      if (!snippet || !isRestricted(snippet)) continue;
      for (const flaw of describeBlocked(snippet, policies, rule, site)) {
        const sentence = `Snippet ${request.id} ${flaw}`;
        const found = this.#places.get(sentence) ?? { request, places: [], placesWithoutChildren: [] };
        this.#places.set(sentence, found);
        if (found.places.at(-1) !== name) found.places.push(name);
      }
    }
  }

  list(placeOf?: PlaceOf): string[] {
    return [...this.#places].map(
      ([sentence, places]) => `${sentence} It is on ${describePlaces(places, placeOf)}.`,
    );
  }
}
