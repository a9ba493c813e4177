import { parseRequest } from '../client/snippet-request.ts';
import { cleanText, containsKnownKey, count, formatBytes, formatDuration } from '../client/text.ts';
import { userError } from '../failures/errors.ts';
import type { Settings } from '../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { readRecord, readSettings } from './project.ts';
import type { Cli } from './terminal.ts';

/** Only the content goes to standard output, so that it can be piped. */
export async function get(cli: Cli, id: string, params?: string) {
  const { terminal, stdout } = cli;
  const request = parseRequest(id, params);
  const { manifest } = await readRecord(cli);
  const fetcher = openFetcher(cli, await readSettings(cli, manifest), { patience: 0 });
  try {
    const start = performance.now();
    const { html, content, variant, name, warnings } = await fetcher.get({ request, asHtml: true });
    if (containsKnownKey(html)) {
      throw userError('published-key', `The API key was found in snippet ${id}. Its content is not shown.`);
    }
    const time = formatDuration(performance.now() - start);
    const size = formatBytes(Buffer.byteLength(content));
    const requests = count(fetcher.answers.counts.requests, 'request');
    const facts = [name && cleanText(name), variant, time, size, requests].filter(Boolean).join(' · ');
    for (const line of [facts, ...warnings]) terminal.printError(line);
    if (stdout.isTTY) terminal.print(html);
    else stdout.write(html);
  } finally {
    await fetcher.close();
  }
}

/** Without warnings: commands print those that concern them. */
export function openFetcher(cli: Cli, settings: Settings, options: Partial<FetcherOptions>) {
  return new SnippetFetcher(settings, {
    warn: () => {},
    notify: cli.terminal.printError,
    parts: { clock: cli.clock },
    alwaysAsk: true,
    remember: true,
    ...options,
  });
}
