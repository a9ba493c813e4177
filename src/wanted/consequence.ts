import type { SnippetErrorCode } from '../client/snippet-error.ts';

/**
 * What a failed snippet means for the build.
 *
 * - `end`: the same answer would come for every snippet, so no more are asked for.
 * - `fail`: somebody has to mend something. The build fails, whatever the embed's children are.
 * - `fallback`: the service is in trouble. An embed's children take the place; without children, it fails.
 */
export type Consequence = 'end' | 'fail' | 'fallback';

const consequences: Readonly<Record<SnippetErrorCode, Consequence>> = {
  unauthorized: 'end',
  'payment-required': 'end',
  forbidden: 'fail',
  'not-found': 'fail',
  'no-route': 'fail',
  'unexpected-status': 'fail',
  redirect: 'fail',
  certificate: 'fail',
  'too-large': 'fail',
  'no-content': 'fail',
  'sanitize-failed': 'fail',
  'script-refused': 'fail',
  'left-open': 'fail',
  'invalid-id': 'fail',
  'invalid-params': 'fail',
  'invalid-options': 'fail',
  aborted: 'fail',
  closed: 'fail',
  'rate-limited': 'fallback',
  'server-error': 'fallback',
  'bad-answer': 'fallback',
  network: 'fallback',
  timeout: 'fallback',
  unavailable: 'fallback',
  'not-cached': 'fallback',
};

export function consequenceOf(code: SnippetErrorCode): Consequence {
  return consequences[code];
}
