import type { Variant } from '../client/variants.ts';
import { type ErrorCode, errorTable } from './error-table.ts';

/** The settings that a hint may advise to set. */
export type AdvisedSettings = Partial<Record<`${Variant}BaseUrl`, string | undefined>> & {
  ca?: string | string[] | undefined;
  concurrency?: number | undefined;
  scripts?: 'allow' | 'warn' | 'strip' | 'error' | undefined;
};

/** What is set already, so that no hint advises to set it. */
export interface Setup {
  settings: AdvisedSettings;
  environment: Readonly<Record<string, string | undefined>>;
}

/** A hint in place of the one in the error table, where that advises what is done. */
interface OtherHint {
  isDone(setup: Setup): boolean;
  hint: string;
}

const otherHints: Partial<Record<ErrorCode, OtherHint>> = {
  certificate: {
    isDone: ({ settings }) => Boolean(settings.ca),
    hint: 'SNIPPETS_CA_FILE or the option `ca` is set, but does not help. Check that it has the certificate of the authority that signed this one, and that this one is for the host of the base URL and has not expired.',
  },
  forbidden: {
    isDone: ({ settings }) => settings.renderBaseUrl === undefined,
    hint: 'Use a secret key: a public one has limited privileges.',
  },
  network: {
    isDone: ({ environment }) => Boolean(environment['HTTPS_PROXY'] || environment['https_proxy']),
    hint: 'Check the base URLs, the network, and the proxy that HTTPS_PROXY names.',
  },
  'no-content': {
    isDone: ({ settings }) => settings.renderBaseUrl !== undefined,
    hint: 'Rendering failed, and retrieving sent no content: try again later, or check the base URL for rendering.',
  },
  'rate-limited': {
    isDone: ({ settings }) => settings.concurrency === 1,
    hint: 'Try again later.',
  },
  'script-refused': {
    isDone: ({ settings }) => settings.scripts === 'strip',
    hint: "Remove the script from the snippet, or set scripts: 'allow' if you trust the authors.",
  },
};

/** The next step for whoever reads an error. It advises nothing that is done already. */
export function hintOf(
  code: ErrorCode,
  settings: AdvisedSettings,
  environment: Setup['environment'] = process.env,
): string {
  const other = otherHints[code];
  return other?.isDone({ settings, environment }) ? other.hint : errorTable[code].hint;
}
