import type { AstroIntegrationLogger } from 'astro';

/** The log lines of one view of a page, by what each is about: its text may count times and attempts. */
export class ViewLines {
  readonly #logger: AstroIntegrationLogger;
  readonly #lines = new Map<string, () => void>();
  /** What the warning about failed snippets is filed under; `undefined` if none failed. */
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

  /** Adds a warning about failed snippets. @param identity equal for equal failures, whatever the text */
  warnOfFailures(identity: string, warning: string): void {
    this.#failures = identity;
    this.#lines.set(identity, () => this.#logger.warn(warning));
  }

  /** Adds the error that is shown instead of the page. It replaces a warning about failed snippets. */
  error(message: string, text: string): void {
    this.#lines.set(this.#failures ?? message, () => this.#logger.error(text));
  }
}

/** Logs the lines of views. A line of a page's last view is not repeated: pages are viewed often. */
export class ViewLog {
  /** The subjects of the lines of the last view of each page. */
  readonly #lastViews = new Map<string, readonly string[]>();

  write(page: string, { entries }: ViewLines): void {
    // Two pages may show the same source, so a line logged for one is not repeated for the other.
    const logged = new Set([...this.#lastViews.values()].flat());
    for (const [subject, log] of entries) if (!logged.has(subject)) log();
    this.#lastViews.set(page, [...entries.keys()]);
  }
}
