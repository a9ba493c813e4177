import type { Settings } from '../../settings/settings.ts';
import { type FetcherOptions, SnippetFetcher } from '../../snippets/snippet-fetcher.ts';
import type { Cli } from '../terminal/cli.ts';

/**
 * Opens a fetcher that asks for the current content of each snippet. Warnings about content are not printed:
 * a command prints those that concern it.
 */
export function openFetcher(cli: Cli, settings: Settings, options: Partial<FetcherOptions>): SnippetFetcher {
  return new SnippetFetcher(settings, {
    warn: () => {},
    notify: cli.terminal.printError,
    parts: { clock: cli.clock },
    alwaysAsk: true,
    remember: true,
    ...options,
  });
}
