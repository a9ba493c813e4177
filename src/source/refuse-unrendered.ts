import { userError } from '../failures/errors.ts';
import { shownSource, withoutComments } from './source-file.ts';

const titleWithSnippet =
  /<(title|textarea)\b(?:"[^"]*"|'[^']*'|[^'">])*>(?:(?!<\/\1)[\s\S])*?<(Snippet)[\s/>]/;

const imageWithSnippet = /(!\[)[^\]]*?<(Snippet|snippet-embed)[\s/>]/;

/** Rejects an embed that is never rendered: in an image of MDX or, before Astro 7, a title. */
export function refuseUnrendered(source: string, file: string, root: string, astro: number): void {
  const isMdx = file.endsWith('.mdx');
  if (!isMdx && !source.includes('astro-snippets/components')) return;
  const text = withoutComments(source, file);
  const found = (isMdx ? imageWithSnippet : titleWithSnippet).exec(text);
  if (!found) return;
  const [whole, element, name] = found;
  const { length: line } = text.slice(0, found.index + whole.length).split('\n');
  const where = isMdx
    ? 'the text of an image, which is plain text in MDX.'
    : `<${element}>, where Astro ${astro} renders no components.`;
  const message = `${shownSource(file, root)}:${line} contains <${name}> in ${where}`;
  const embed = '<snippet-embed id="42"></snippet-embed>';
  const hint = `Write ${isMdx ? `<img src="…" alt='${embed}' />` : embed} there.`;
  const loc = { file, line, column: 0 };
  throw Object.assign(userError('unrendered-component', message, hint), { loc });
}
