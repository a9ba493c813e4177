import { describeBlocked, isRestricted, type RestrictedContent } from '../content/blocked.ts';
import { nameSnippet } from '../failures/name-snippet.ts';
import { type SnippetWarning, toSnippetFlaw, WarningList } from '../failures/snippet-warning.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { InlinedPage } from './inline-page.ts';

/** How a site treats inline code, and where it is. */
export interface PolicyContext {
  rule: HtmlRules['policy'];
  /** The URL of the site, if it is known. */
  site?: string | undefined;
}

/** A snippet that policies may restrict, with its name if that is known. */
interface RestrictedSnippet extends RestrictedContent {
  knownName?: string | undefined;
}

/** Warns of what the Content Security Policies of pages block of the snippets there. */
export class PolicyWarnings {
  readonly #snippets: ReadonlyMap<string, RestrictedSnippet>;
  readonly #context: PolicyContext;
  readonly #warnings = new WarningList();

  /** @param snippets the snippets to warn of, by the keys of their requests */
  constructor(snippets: ReadonlyMap<string, RestrictedSnippet>, context: PolicyContext) {
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
      const subject = nameSnippet({ id: request.id, name: snippet.knownName });
      for (const text of describeBlocked(snippet, policies, rule, site)) {
        const flaw = toSnippetFlaw(subject, { code: 'blocked-by-policy', text });
        this.#warnings.add(flaw, { request, place: name });
      }
    }
  }

  get list(): SnippetWarning[] {
    return this.#warnings.list;
  }
}
