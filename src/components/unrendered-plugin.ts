import { readFile } from 'node:fs/promises';
import { userError } from '../failures/errors.ts';
import { shownSource } from '../source/source-files.ts';

const title = /<(title|textarea)\b(?:"[^"]*"|'[^']*'|[^'">])*>(?:(?!<\/\1)[\s\S])*?<(Snippet)[\s/>]/;
const imageText = /(!\[)[^\]]*?<(Snippet|snippet-embed)[\s/>]/;
const embed = '<snippet-embed id="42"></snippet-embed>';

/** Rejects embeds that are lost before a page is rendered: in images of MDX and, before Astro 7, in titles. */
export function unrenderedPlugin(root: string, astro: number) {
  return {
    name: 'astro-snippets:unrendered',
    enforce: 'pre' as const,
    // Before the compiler, whose error for such a title names neither file nor line.
    load: {
      filter: { id: astro >= 7 ? /\.mdx$/ : /\.(?:astro|mdx)$/ },
      async handler(id: string) {
        const isMdx = id.endsWith('.mdx');
        const source = await readFile(id, 'utf8').catch(() => '');
        if (!/<snippet/i.test(source) || (!isMdx && !source.includes('astro-snippets/components'))) return;
        // Loaded only here: a site without embeds does not need it.
        const { withoutComments } = await import('../source/source-embeds.ts');
        const text = withoutComments(source, id);
        const found = (isMdx ? imageText : title).exec(text);
        if (found === null) return;
        const [whole, element, name] = found;
        const { length: line } = text.slice(0, found.index + whole.length).split('\n');
        const where = isMdx
          ? 'the text of an image, which is plain text in MDX.'
          : `<${element}>, where Astro ${astro} renders no components.`;
        const message = `${shownSource(id, root)}:${line} contains <${name}> in ${where}`;
        const hint = isMdx ? `<img src="…" alt='${embed}' />` : embed;
        throw Object.assign(userError('unrendered-component', message, `Write ${hint} there.`), {
          loc: { file: id, line, column: 0 },
        });
      },
    },
  };
}
