import type { AstroIntegrationLogger } from 'astro';

/** The lines of one view of a page, by what they are about: their text may count times and attempts. */
export class ViewLines {
  readonly #logger: AstroIntegrationLogger;
  readonly #lines = new Map<string, () => void>();
  /** What distinguishes the snippets of the view that failed; `undefined` if none did. */
  #failures: string | undefined;

  constructor(logger: AstroIntegrationLogger) {
    this.#logger = logger;
  }

  /** The lines, each as a function that logs it. */
  get entries(): ReadonlyMap<string, () => void> {
    return this.#lines;
  }

  warn(line: string): void {
    this.#lines.set(line, () => this.#logger.warn(line));
  }

  /** Adds a warning about snippets that failed. @param identity what distinguishes the failures */
  warnOfFailures(identity: string, warning: string): void {
    this.#failures = identity;
    this.#lines.set(identity, () => this.#logger.warn(warning));
  }

  /** Adds the error that is shown instead of the page. It replaces the warning about failed snippets. */
  error(message: string, text: string): void {
    this.#lines.set(this.#failures ?? message, () => this.#logger.error(text));
  }
}

/** Logs the lines of views, each once until a view of the page is without it: pages are viewed often. */
export class ViewLog {
  /** What the lines of the last view are about, by page. */
  readonly #lastViews = new Map<string, readonly string[]>();

  write(page: string, { entries }: ViewLines): void {
    // Two pages may show the same source, so the lines of all pages count.
    const logged = new Set([...this.#lastViews.values()].flat());
    for (const [subject, log] of entries) if (!logged.has(subject)) log();
    this.#lastViews.set(page, [...entries.keys()]);
  }
}
