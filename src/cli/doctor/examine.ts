import { Service } from '../../client/service.ts';
import type { Variant } from '../../client/service-url.ts';
import { SnippetError, type SnippetErrorCode } from '../../client/snippet-error.ts';
import type { SnippetRequest } from '../../client/snippet-request.ts';
import { requireConnection, type Settings } from '../../settings/settings.ts';

/** What has to work for a snippet to arrive, in the order in which it can be found out. */
export const stages = [
  'connection',
  'certificate',
  'url',
  'service',
  'key',
  'subscription',
  'permission',
  'snippet',
] as const;

export type Stage = (typeof stages)[number];

/** The stage at which each error occurs. Earlier stages worked; later ones were not reached. */
const stageOf: Readonly<Record<SnippetErrorCode, Stage>> = {
  network: 'connection',
  timeout: 'connection',
  certificate: 'certificate',
  redirect: 'url',
  'no-route': 'url',
  'bad-answer': 'service',
  'rate-limited': 'service',
  'server-error': 'service',
  unavailable: 'service',
  'unexpected-status': 'service',
  unauthorized: 'key',
  'payment-required': 'subscription',
  forbidden: 'permission',
  'not-found': 'snippet',
  'too-large': 'snippet',
  'no-content': 'snippet',
  'invalid-id': 'snippet',
  'invalid-params': 'snippet',
  'invalid-options': 'url',
  aborted: 'connection',
  closed: 'connection',
};

export type Finding = 'works' | 'fails' | 'unknown';

/** What an answer says about each stage. Without a code, the snippet arrived. */
export function findingsOf(code: SnippetErrorCode | undefined): Record<Stage, Finding> {
  const failing = code === undefined ? stages.length : stages.indexOf(stageOf[code]);
  const findings = stages.map((stage, index): [Stage, Finding] => {
    if (index === failing) return [stage, 'fails'];
    return [stage, index < failing ? 'works' : 'unknown'];
  });
  return Object.fromEntries(findings) as Record<Stage, Finding>;
}

/** The snippet to fetch. */
export interface Probe {
  request: SnippetRequest;
  /** Whether the id is made up, so that a missing snippet means nothing. */
  isGuess: boolean;
}

export interface Examination {
  findings: Record<Stage, Finding>;
  /** What the service said, if a stage fails. */
  error?: SnippetError;
  milliseconds: number;
}

// A person is waiting to see what is wrong, so there are few retries.
const limits = { attempts: 2, deadline: 15_000 };

/** Fetches a snippet through one variant, and says which stages worked. */
export async function examine(settings: Settings, variant: Variant, probe: Probe): Promise<Examination> {
  const { ca, concurrency, renderBaseUrl, retrieveBaseUrl } = settings;
  const url = variant === 'render' ? { renderBaseUrl } : { retrieveBaseUrl };
  const service = new Service({ apiKey: requireConnection(settings), ca, concurrency, limits, ...url });
  const start = performance.now();
  try {
    await service[variant](probe.request);
    return { findings: findingsOf(undefined), milliseconds: performance.now() - start };
  } catch (error) {
    if (!(error instanceof SnippetError)) throw error;
    const findings = findingsOf(error.code);
    const milliseconds = performance.now() - start;
    if (error.code !== 'not-found' || !probe.isGuess) return { findings, error, milliseconds };
    return { findings: { ...findings, snippet: 'unknown' }, milliseconds };
  } finally {
    await service.close();
  }
}
