import { count, formatBytes, formatDuration } from '../client/format.ts';
import { parseRequest } from '../client/snippet-request.ts';
import { cleanLines } from './output.ts';
import { openCliFetcher, type ProjectOptions, readSettings } from './project.ts';

/**
 * `astro-snippets get ID`: one snippet as a build would get it. The content goes to standard output and everything else
 * to standard error, so that the content can be piped.
 */
export async function get(
  project: ProjectOptions,
  id: string,
  { params }: { params?: string },
): Promise<void> {
  const request = parseRequest(id, params);
  const fetcher = openCliFetcher(await readSettings(project));
  try {
    const start = performance.now();
    const snippet = await fetcher.get({ request, asHtml: true });
    const { html, content, variant, name, warnings } = snippet;
    const facts = [
      ...(name === undefined ? [] : [name]),
      variant,
      formatDuration(performance.now() - start),
      formatBytes(Buffer.byteLength(content)),
      count(fetcher.counts.requests, 'request'),
    ];
    process.stderr.write(`${facts.join(' · ')}\n`);
    for (const warning of warnings) process.stderr.write(`${warning}\n`);
    process.stdout.write(process.stdout.isTTY ? `${cleanLines(html)}\n` : html);
  } finally {
    await fetcher.close();
  }
}
