import type { SnippetErrorCode } from '../client/snippet-error.ts';

/** What has to work for a snippet to arrive, in the order in which it is found out. */
export const stages = [
  'connection',
  'certificate',
  'address',
  'service',
  'key',
  'subscription',
  'permission',
  'snippet',
] as const;

export type Stage = (typeof stages)[number];

/** Where each failure happens. What comes before has worked; what comes after was not reached. */
const stageOf: Readonly<Record<SnippetErrorCode, Stage>> = {
  network: 'connection',
  timeout: 'connection',
  certificate: 'certificate',
  redirect: 'address',
  'no-route': 'address',
  'bad-answer': 'service',
  'rate-limited': 'service',
  'server-error': 'service',
  'too-large': 'snippet',
  unavailable: 'service',
  'unexpected-status': 'service',
  unauthorized: 'key',
  'payment-required': 'subscription',
  forbidden: 'permission',
  'not-found': 'snippet',
  'no-content': 'snippet',
  'sanitize-failed': 'snippet',
  'script-refused': 'snippet',
  'left-open': 'snippet',
  'invalid-id': 'snippet',
  'invalid-params': 'snippet',
  'invalid-options': 'address',
  'not-cached': 'snippet',
  aborted: 'connection',
  closed: 'connection',
};

export type Finding = 'works' | 'fails' | 'unknown';

/** What an answer says about each stage; no code means that the snippet came. */
export function findingsOf(code: SnippetErrorCode | undefined): Record<Stage, Finding> {
  const failing = code === undefined ? stages.length : stages.indexOf(stageOf[code]);
  const findings = stages.map((stage, index): [Stage, Finding] => {
    if (index === failing) return [stage, 'fails'];
    return [stage, index < failing ? 'works' : 'unknown'];
  });
  return Object.fromEntries(findings) as Record<Stage, Finding>;
}
