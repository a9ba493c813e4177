import { containsKnownKey } from '../client/api-key.ts';
import { cleanText } from '../client/clean-text.ts';
import { count, formatBytes, formatDuration } from '../client/format.ts';
import { parseRequest } from '../client/snippet-request.ts';
import { userError } from '../failures/errors.ts';
import type { Settings } from '../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { readRecord, readSettings } from './project.ts';
import type { CliContext } from './terminal.ts';

/** The content goes to standard output and everything else to standard error, so that the content can be piped. */
export async function get(context: CliContext, id: string, params?: string): Promise<void> {
  const { terminal, stdout } = context;
  const request = parseRequest(id, params);
  const { manifest } = await readRecord(context);
  const fetcher = openFetcher(context, await readSettings(context, manifest), { patience: 0 });
  try {
    const start = performance.now();
    const { html, content, variant, name, warnings } = await fetcher.get({ request, asHtml: true });
    if (containsKnownKey(html)) {
      throw userError('published-key', `The API key was found in snippet ${id}. Its content is not shown.`);
    }
    const facts = [
      ...(name === undefined ? [] : [cleanText(name)]),
      variant,
      formatDuration(performance.now() - start),
      formatBytes(Buffer.byteLength(content)),
      count(fetcher.answers.counts.requests, 'request'),
    ];
    for (const line of [facts.join(' · '), ...warnings]) terminal.printError(line);
    if (stdout.isTTY) terminal.print(html);
    // Byte for byte: it may be a file or another program that reads it.
    else stdout.write(html);
  } finally {
    await fetcher.close();
  }
}

/** Opens the snippets of a command. Its warnings are those of the snippets that it is about. */
export function openFetcher(context: CliContext, settings: Settings, options: Partial<FetcherOptions>) {
  return new SnippetFetcher(settings, {
    warn: () => {},
    notify: (line) => context.terminal.printError(line),
    parts: { clock: context.clock },
    alwaysAsk: true,
    remember: true,
    ...options,
  });
}
