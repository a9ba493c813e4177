import type { SnippetErrorCode } from './snippet-error.ts';

/** Why there is no answer, or no request was made. These are codes of errors, too. */
type WithoutAnswer = 'network' | 'timeout' | 'certificate' | 'too-large' | 'invalid-options';

/** The result of one HTTP request, reduced to what decides the next step. */
export type Outcome =
  | { kind: 'usable' }
  | { kind: 'unusable' }
  | { kind: 'status'; status: number; problem: boolean }
  | { kind: WithoutAnswer };

/**
 * - `use`: the content arrived.
 * - `end`: the key is used for every request, so no other snippet can succeed.
 * - `fail`: this snippet fails; the others continue.
 * - `elsewhere`: this route does not exist; ask the other variant.
 * - `again`: the failure may be temporary.
 */
export type Verdict = 'use' | 'end' | 'fail' | 'elsewhere' | 'again';

interface Judgement {
  verdict: Verdict;
  code: SnippetErrorCode;
}

const withoutProblem: Readonly<Record<number, Judgement>> = {
  404: { verdict: 'elsewhere', code: 'no-route' },
  405: { verdict: 'elsewhere', code: 'no-route' },
  410: { verdict: 'elsewhere', code: 'no-route' },
  501: { verdict: 'elsewhere', code: 'no-route' },
};

const withOrWithoutProblem: Readonly<Record<number, Judgement>> = {
  401: { verdict: 'end', code: 'unauthorized' },
  402: { verdict: 'end', code: 'payment-required' },
  403: { verdict: 'fail', code: 'forbidden' },
  404: { verdict: 'fail', code: 'not-found' },
  408: { verdict: 'again', code: 'timeout' },
  429: { verdict: 'again', code: 'rate-limited' },
  500: { verdict: 'again', code: 'server-error' },
  502: { verdict: 'again', code: 'server-error' },
  503: { verdict: 'again', code: 'server-error' },
  504: { verdict: 'again', code: 'server-error' },
};

const withoutAnswer: Readonly<Record<WithoutAnswer, Verdict>> = {
  network: 'again',
  timeout: 'again',
  certificate: 'fail',
  'too-large': 'fail',
  // The environment names a proxy that cannot be used.
  'invalid-options': 'fail',
};

/**
 * Decides what an outcome means. The same for both variants; after variant A there is no other variant to ask, so
 * `elsewhere` fails there.
 *
 * The statuses are those of the specification's section 7, plus the ones that servers and gateways in between are
 * known to send.
 */
export function judge(outcome: Outcome): Judgement {
  switch (outcome.kind) {
    case 'usable':
      return { verdict: 'use', code: 'bad-answer' };
    case 'unusable':
      return { verdict: 'again', code: 'bad-answer' };
    case 'status':
      return judgeStatus(outcome.status, outcome.problem);
    default:
      return { verdict: withoutAnswer[outcome.kind], code: outcome.kind };
  }
}

function judgeStatus(status: number, problem: boolean): Judgement {
  const known = (problem ? undefined : withoutProblem[status]) ?? withOrWithoutProblem[status];
  if (known !== undefined) return known;
  return { verdict: 'fail', code: status >= 300 && status < 400 ? 'redirect' : 'unexpected-status' };
}
