import { parseRequest } from '../../client/snippet-request.ts';
import { isSnippetFailure, userError } from '../../failures/errors.ts';
import { hintOf } from '../../failures/hints.ts';
import { count, formatBytes, formatDuration } from '../../text/format.ts';
import { containsKnownKey } from '../../text/known-keys.ts';
import { openFetcher } from '../project/fetch-changes.ts';
import { readProject } from '../project/open-project.ts';
import { readSettings } from '../project/project-settings.ts';
import type { Cli } from '../terminal/terminal.ts';

/**
 * The command `get`: prints the content of one snippet, as a build would show it. Only the content goes to
 * standard output, so that it can be piped. Facts about the snippet and warnings go to standard error.
 */
export async function get(cli: Cli, id: string, params?: string): Promise<void> {
  const { terminal, stdout } = cli;
  const request = parseRequest(id, params);
  const { manifest } = await readProject(cli);
  const settings = await readSettings(cli, manifest);
  const fetcher = openFetcher(cli, settings, { patience: 0, recordedNames: manifest?.names });
  try {
    const start = performance.now();
    const snippet = await fetcher.get({ request, asHtml: true }).catch((error: unknown) => {
      if (!isSnippetFailure(error)) throw error;
      throw userError(error.code, error.message, hintOf(error.code, settings));
    });
    const { html, content, variant, knownName, flaws, policyFlaws = [] } = snippet;
    if (containsKnownKey(html)) {
      throw userError('published-key', `The API key was found in snippet ${id}. Its content is not shown.`);
    }

    const time = formatDuration(performance.now() - start);
    const size = formatBytes(Buffer.byteLength(content));
    const requests = count(fetcher.answers.counts.requests, 'request');
    const facts = [knownName, variant, time, size, requests].filter(Boolean).join(' · ');
    const warnings = [...flaws, ...policyFlaws].map(({ message, code }) => `${message} [${code}]`);
    for (const line of [facts, ...warnings]) terminal.printError(line);

    // A terminal gets text without control characters, a file or another program the exact bytes.
    if (stdout.isTTY) terminal.print(html);
    else stdout.write(html);
  } finally {
    await fetcher.close();
  }
}
