import type { Refusal } from './origin-gate.ts';
import type { Problem } from './problem.ts';
import { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
import type { Variant } from './variant.ts';

interface Place {
  snippetId: number;
  variant: Variant;
  attempts: number;
}

interface Finding {
  status?: number;
  problem?: Problem | undefined;
  /** Why there was no answer, cleaned. */
  reason?: string;
  retryAfter?: number | undefined;
}

/** Makes the error of a request that was made and did not give the content. */
export function failure(code: SnippetErrorCode, found: Place & Finding): SnippetError {
  const { snippetId, variant, attempts, status, problem, reason } = found;
  return new SnippetError(code, sentence(found, `${whatHappened(code, found)}${afterAttempts(attempts)}`), {
    snippetId,
    variant,
    attempts,
    status,
    problem,
    ...(reason === undefined ? {} : { cause: new Error(reason) }),
  });
}

/** Makes the error of a request that was not made, because its origin lets no one through. */
export function refusal(refused: Refusal, place: Place): SnippetError {
  const time = duration(refused.milliseconds);
  return refused.kind === 'held'
    ? new SnippetError(
        'rate-limited',
        sentence(place, `the service asks to be left alone for ${time}`),
        place,
      )
    : new SnippetError(
        'unavailable',
        sentence(place, `too many requests to the service fail; nothing has succeeded for ${time}`),
        place,
      );
}

function sentence({ snippetId, variant }: Place, text: string): string {
  return `Snippet ${snippetId} could not be ${variant === 'render' ? 'rendered' : 'retrieved'}: ${text}`;
}

function whatHappened(code: SnippetErrorCode, { status, problem, reason, retryAfter }: Finding): string {
  if (reason !== undefined) return reason;
  if (code === 'bad-answer') return 'the answer is cut off, or is not what the specification says';
  if (code === 'redirect') return `the service answered with a redirect (${status}), which is never followed`;
  const wait = retryAfter === undefined ? '' : `, to be asked again in ${duration(retryAfter)}`;
  if (problem === undefined) return `the service answered ${status}, without a problem object${wait}`;
  const { title = '', detail = '' } = problem;
  return `${status} ${[title, detail].filter((text) => text !== '').join(': ')}${wait}`;
}

function afterAttempts(attempts: number): string {
  return attempts === 1 ? '' : ` (${attempts} attempts)`;
}

function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
