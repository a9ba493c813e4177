import type { Variant } from '../../client/service-url.ts';
import { SnippetClient } from '../../client/snippet-client.ts';
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
  'invalid-options': 'connection',
  'unsupported-node': 'connection',
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
  /** A base URL at which this variant does respond, if the one that is set is not its own. */
  betterUrl?: string;
  milliseconds: number;
}

// A person is waiting to see what is wrong, so there are few retries.
const limits = { attempts: 2, deadline: 15_000 };

/** Fetches a snippet through one variant, and says which stages worked. */
export async function examine(settings: Settings, variant: Variant, probe: Probe): Promise<Examination> {
  const start = performance.now();
  const error = await tryVariant(settings, variant, probe);
  const milliseconds = performance.now() - start;
  if (error === undefined) return { findings: findingsOf(undefined), milliseconds };
  const betterUrl = await findBetterUrl(settings, variant, probe, error);
  if (betterUrl !== undefined) return { findings: findingsOf('no-route'), error, betterUrl, milliseconds };
  const findings = findingsOf(error.code);
  if (error.code !== 'not-found' || !probe.isGuess) return { findings, error, milliseconds };
  return { findings: { ...findings, snippet: 'unknown' }, milliseconds };
}

/** Returns why the snippet did not arrive, if it did not. */
async function tryVariant(
  settings: Settings,
  variant: Variant,
  { request }: Probe,
): Promise<SnippetError | undefined> {
  const { ca, concurrency, renderBaseUrl, retrieveBaseUrl } = settings;
  const url = variant === 'render' ? { renderBaseUrl } : { retrieveBaseUrl };
  const apiKey = requireConnection(settings);
  const client = new SnippetClient({ apiKey, ca, concurrency, limits, patience: 0, ...url });
  try {
    // Variant A may leave out the content, which fails a build that has no other variant.
    const hasOther = renderBaseUrl !== undefined && retrieveBaseUrl !== undefined;
    await (hasOther ? client.fetch(request, undefined, variant) : client.fetch(request));
    return undefined;
  } catch (error) {
    if (!(error instanceof SnippetError)) throw error;
    return error;
  } finally {
    await client.close();
  }
}

/** Looks for the variant at the other base URL, and at other paths of the same hosts, which have the key already. */
async function findBetterUrl(
  settings: Settings,
  variant: Variant,
  probe: Probe,
  { code }: SnippetError,
): Promise<string | undefined> {
  if (code !== 'no-route' && code !== 'not-found') return undefined;
  const url = variant === 'render' ? 'renderBaseUrl' : 'retrieveBaseUrl';
  for (const candidate of otherUrls(settings, variant)) {
    const error = await tryVariant({ ...settings, [url]: candidate }, variant, probe);
    if (error === undefined) return candidate;
    // No snippet, or one without its content: it is the service that says so.
    if (code === 'no-route' && (error.code === 'not-found' || error.code === 'no-content')) return candidate;
  }
  return undefined;
}

/** Other base URLs that may have been meant: the other variant's, the other's path on this host, and shorter paths. */
export function otherUrls(
  { renderBaseUrl, retrieveBaseUrl }: Pick<Settings, 'renderBaseUrl' | 'retrieveBaseUrl'>,
  variant: Variant,
): string[] {
  const [own, other] =
    variant === 'render' ? [renderBaseUrl, retrieveBaseUrl] : [retrieveBaseUrl, renderBaseUrl];
  if (own === undefined) return [];
  const { origin, pathname } = new URL(own);
  const folders = pathname.split('/').filter(Boolean);
  const shorter = folders.map((_, index) => `${origin}/${folders.slice(0, index).join('/')}`);
  const urls = [
    ...(other === undefined ? [] : [other, `${origin}${new URL(other).pathname}`]),
    ...shorter.reverse(),
  ].map((candidate) => candidate.replace(/\/+$/, ''));
  return [...new Set(urls)].filter((candidate) => candidate !== own);
}
