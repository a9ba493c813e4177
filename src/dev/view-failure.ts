import { cleanLines } from '../client/clean-text.ts';
import { UserError } from '../failures/errors.ts';
import {
  childrenWarnings,
  type FailedSnippet,
  type InvalidEmbed,
  throwFailures,
} from '../failures/report.ts';
import { failureLook } from './look.ts';

/** Why a page is not shown, or shows children. */
export interface ViewFailure {
  message: string;
  hint: string;
  /** Equal for failures that differ in nothing but counts of attempts and seconds. */
  identity: string;
}

/** What a build with this page would fail for; `undefined` if it would not. */
export function viewFailure(
  failed: readonly FailedSnippet[],
  invalid: readonly InvalidEmbed[],
): ViewFailure | undefined {
  try {
    throwFailures({ failed, notAsked: 0, embeds: invalid });
    return undefined;
  } catch (error) {
    return { ...asViewFailure(error), identity: JSON.stringify([invalid, looksOf(failed)]) };
  }
}

/** Says that children are shown; `undefined` if they are not. */
export function childrenShown(failed: readonly FailedSnippet[]): ViewFailure | undefined {
  if (failed.length === 0) return undefined;
  return {
    message: cleanLines(childrenWarnings(failed).join('\n')),
    hint: '',
    identity: JSON.stringify(looksOf(failed)),
  };
}

export function asViewFailure(error: unknown): ViewFailure {
  const message = cleanLines((error as UserError).message);
  const hint = cleanLines((error as UserError).hint ?? '');
  const code = error instanceof UserError ? error.code : undefined;
  // A report names the codes itself.
  return { message, hint: code === undefined ? hint : `${code}: ${hint}`, identity: message };
}

function looksOf(failed: readonly FailedSnippet[]): [key: string, look: string][] {
  return failed.map(({ request, error }) => [request.key, failureLook(error)]);
}

/** Logs what is wrong with a page once, until that changes or is over. */
export class FailureLog {
  readonly #last = new Map<string, string>();

  /** @param failure `undefined` if the page is fine. */
  report(page: string, failure: ViewFailure | undefined, log: (line: string) => void): void {
    if (failure === undefined) {
      this.#last.delete(page);
      return;
    }
    if (this.#last.get(page) === failure.identity) return;
    this.#last.set(page, failure.identity);
    log(describe(failure));
  }
}

/** Logs each warning about a page once, until the page is without it. */
export class WarningLog {
  readonly #last = new Map<string, ReadonlySet<string>>();

  /** @param warnings all that concern the page now. */
  report(page: string, warnings: readonly string[], log: (line: string) => void): void {
    // Two pages may show the same source.
    const known = new Set([...this.#last.values()].flatMap((lines) => [...lines]));
    const lines = new Set(warnings);
    for (const line of lines) if (!known.has(line)) log(line);
    if (lines.size === 0) this.#last.delete(page);
    else this.#last.set(page, lines);
  }
}

function describe({ message, hint }: ViewFailure): string {
  if (hint === '') return message;
  return `${message.trimEnd()}\n\n  Hint:\n${hint.replaceAll(/^/gm, '    ')}\n`;
}
