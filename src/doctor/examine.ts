import { SnippetError } from '../client/snippet-error.ts';
import { parseParams } from '../client/snippet-input.ts';
import { createClient } from '../create-client.ts';
import type { Settings } from '../options.ts';
import { type Finding, findingsOf, type Stage } from './stages.ts';

/** The snippet that is asked for. */
export interface Probe {
  id: number;
  params: string | undefined;
  /** Nobody said that there is one of this id, so that its absence says nothing. */
  isGuess: boolean;
}

export interface Examination {
  findings: Record<Stage, Finding>;
  /** What the service said, where something fails. */
  error?: SnippetError;
  milliseconds: number;
}

// Somebody waits, and wants to know what is wrong rather than to have it mended.
const limits = { attempts: 2, deadline: 15_000 };

/** Asks one variant for a snippet, and says how far that got. */
export async function examine(
  settings: Settings,
  variant: 'renderBaseUrl' | 'retrieveBaseUrl',
  { id, params, isGuess }: Probe,
): Promise<Examination> {
  const none = { renderBaseUrl: undefined, retrieveBaseUrl: undefined };
  const client = createClient(
    { ...settings, ...none, [variant]: settings[variant] },
    'The service is to be asked',
    { limits },
  );
  const start = performance.now();
  try {
    const canonical = params === undefined ? undefined : parseParams(params);
    const variables = canonical === undefined ? undefined : JSON.parse(canonical);
    await (variant === 'renderBaseUrl' ? client.render(id, variables) : client.retrieve(id, variables));
    return { findings: findingsOf(undefined), milliseconds: performance.now() - start };
  } catch (error) {
    if (!(error instanceof SnippetError)) throw error;
    const findings = findingsOf(error.code);
    const milliseconds = performance.now() - start;
    if (error.code !== 'not-found' || !isGuess) return { findings, error, milliseconds };
    return { findings: { ...findings, snippet: 'unknown' }, milliseconds };
  } finally {
    await client.close();
  }
}
