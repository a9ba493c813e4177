import { parseParams, parseSnippetId } from '../client/snippet-input.ts';
import { cleanLines } from './print.ts';
import { connect, type ProjectOptions } from './project.ts';

/**
 * `astro-snippets get ID`: one snippet as a build would get it. The content goes to standard output, and what there
 * is to say of it to standard error, so that the content can be piped on.
 */
export async function get(
  project: ProjectOptions,
  id: string,
  { params }: { params?: string },
): Promise<void> {
  const client = await connect(project);
  try {
    const canonical = params === undefined ? undefined : parseParams(params);
    const start = performance.now();
    const { content, variant, name } = await client.get(
      parseSnippetId(id),
      canonical === undefined ? undefined : JSON.parse(canonical),
    );
    const facts = [
      ...(name === undefined ? [] : [name]),
      variant,
      `${Math.round(performance.now() - start)} ms`,
      `${Buffer.byteLength(content)} bytes`,
      `${client.counts.requests} ${client.counts.requests === 1 ? 'request' : 'requests'}`,
    ];
    process.stderr.write(`${facts.join(' · ')}\n`);
    const { isTTY } = process.stdout;
    process.stdout.write(isTTY ? `${cleanLines(content)}\n` : content);
  } finally {
    await client.close();
  }
}
