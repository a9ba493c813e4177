import { parseParams, parseSnippetId } from '../client/snippet-input.ts';
import { applyRules } from '../html-rules/apply-rules.ts';
import { cleanLines } from './print.ts';
import { clientOf, type ProjectOptions, readSettings } from './project.ts';

/**
 * `astro-snippets get ID`: one snippet as a build would get it. The content goes to standard output, and what there
 * is to say of it to standard error, so that the content can be piped on.
 */
export async function get(
  project: ProjectOptions,
  id: string,
  { params }: { params?: string },
): Promise<void> {
  const settings = await readSettings(project);
  const client = clientOf(settings);
  try {
    const snippet = {
      id: parseSnippetId(id),
      params: params === undefined ? undefined : parseParams(params),
    };
    const start = performance.now();
    const got = await client.get(snippet.id, snippet.params && JSON.parse(snippet.params));
    const milliseconds = Math.round(performance.now() - start);
    const { html, content, variant, name, warnings } = await applyRules(got, snippet, settings.html);
    const facts = [
      ...(name === undefined ? [] : [name]),
      variant,
      `${milliseconds} ms`,
      `${Buffer.byteLength(content)} bytes`,
      `${client.counts.requests} ${client.counts.requests === 1 ? 'request' : 'requests'}`,
    ];
    process.stderr.write(`${facts.join(' · ')}\n`);
    for (const warning of warnings) process.stderr.write(`${warning}\n`);
    const { isTTY } = process.stdout;
    process.stdout.write(isTTY ? `${cleanLines(html)}\n` : html);
  } finally {
    await client.close();
  }
}
