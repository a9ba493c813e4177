import { readFile } from 'node:fs/promises';
import { userError } from '../failures/errors.ts';
import { shownSource } from '../source/source-files.ts';

const component = /<(title|textarea)\b(?:"[^"]*"|'[^']*'|[^'">])*>(?:(?!<\/\1)[\s\S])*?<Snippet[\s/>]/g;

/**
 * A Vite plugin that rejects `<Snippet>` in `<title>` and `<textarea>` where Astro's compiler takes it as text, with file
 * and line: within braces, the compiler writes code that no parser accepts, and its error names neither.
 *
 * @param version that of the project's Astro, for the message.
 */
export function titlePlugin(version: string) {
  let root = '';
  return {
    name: 'astro-snippets:title',
    enforce: 'pre' as const,
    configResolved(config: { root: string }) {
      root = config.root;
    },
    // Before the compiler, which fails in `transform`.
    load: {
      filter: { id: /\.astro$/ },
      async handler(id: string) {
        const source = await readFile(id, 'utf8').catch(() => '');
        if (!source.includes('astro-snippets/components')) return undefined;
        // Loaded only here: a site without embeds does not need it.
        const { withoutComments } = await import('../source/source-embeds.ts');
        const text = withoutComments(source, id);
        const [found] = text.matchAll(component);
        if (found === undefined) return undefined;
        const { length: line } = text.slice(0, found.index + found[0].length).split('\n');
        const file = shownSource(id, root);
        throw Object.assign(
          userError(
            'unrendered-component',
            `${file}:${line} contains <Snippet> in <${found[1]}>, where Astro ${version} renders no components.`,
            `Write <snippet-embed id="42"></snippet-embed> there.`,
          ),
          { loc: { file: id, line, column: 0 } },
        );
      },
    },
  };
}
