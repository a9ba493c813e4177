import type { SnippetClientOptions } from '../client/snippet-client.ts';
import { errorTable } from '../failures/error-table.ts';
import { userError } from '../failures/errors.ts';
import { environmentVariables } from '../settings/variable-names.ts';
import type { ParsedLiveOptions } from './live-options.ts';

/** What the environment of the server decides about a client. If it changes, a new client is opened. */
export type LiveConnection = Pick<
  SnippetClientOptions,
  'apiKey' | 'renderBaseUrl' | 'retrieveBaseUrl' | 'ca'
>;

/** Reads a variable of the server's environment. */
export type ReadVariable = (name: string) => string | undefined;

type ConnectionOptions = Pick<ParsedLiveOptions, 'renderBaseUrl' | 'retrieveBaseUrl' | 'ca'>;

/**
 * How live snippets reach the service, by the options and the environment of the server.
 *
 * Files are read by modules that are loaded only where the environment names a file: workers have none.
 */
export class LiveConnectionReader {
  readonly #options: ConnectionOptions;
  readonly #readVariable: ReadVariable;
  #authorities: { file: string; certificates: string[] } | undefined;

  constructor(options: ConnectionOptions, readVariable: ReadVariable) {
    this.#options = options;
    this.#readVariable = readVariable;
  }

  /**
   * Reads the environment anew: Cloudflare has none while modules are loaded, and a key may be renewed.
   *
   * @throws UserError for a key or a base URL that is missing, and a file that cannot be read
   */
  async read(): Promise<LiveConnection> {
    const { renderBaseUrl, retrieveBaseUrl, ca } = this.#options;
    const connection = {
      apiKey: await this.#readKey(),
      renderBaseUrl: renderBaseUrl ?? this.#valueOf(environmentVariables.renderBaseUrl),
      retrieveBaseUrl: retrieveBaseUrl ?? this.#valueOf(environmentVariables.retrieveBaseUrl),
    };
    if (!connection.renderBaseUrl && !connection.retrieveBaseUrl) {
      throw userError('missing-url', 'No base URL of the service is set in the environment of the server.');
    }
    const caFile = this.#valueOf(environmentVariables.caFile);
    return { ...connection, ca: caFile ? [ca ?? [], await this.#readAuthorities(caFile)].flat() : ca };
  }

  /** The value of a variable; `undefined` for an empty one, as that of a missing secret is. */
  #valueOf(name: string): string | undefined {
    return this.#readVariable(name) || undefined;
  }

  async #readKey(): Promise<string> {
    const { apiKey, apiKeyFile } = environmentVariables;
    const key = this.#valueOf(apiKey);
    if (key) return key;

    const file = this.#valueOf(apiKeyFile);
    if (!file) {
      throw userError(
        'missing-key',
        `${apiKey} is not set in the environment of the server.`,
        'Set it where the server runs, as a secret: that of the build does not count.',
      );
    }
    const { readKeyFile } = await import('../settings/key-file.ts');
    const written = await readKeyFile(file, apiKeyFile);
    if (written) return written;
    const flaw = written === undefined ? 'does not exist on the server' : 'is empty';
    throw userError(
      'unreadable-key-file',
      `The file named by ${apiKeyFile} ${flaw}.`,
      errorTable['unreadable-key-file'].hint,
    );
  }

  /** Reads the certificates of a file once: commands that replace it restart the server. */
  async #readAuthorities(file: string): Promise<string[]> {
    if (this.#authorities?.file !== file) {
      const { readCaFile } = await import('../settings/ca-file.ts');
      this.#authorities = { file, certificates: readCaFile(file) };
    }
    return this.#authorities.certificates;
  }
}
