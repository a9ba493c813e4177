import { userError } from '../failures/errors.ts';
import { relativeSource, withoutComments } from './source-file.ts';

/**
 * `<title>News: <Snippet id={42} /></title>`. Attributes may contain a `>` in quotes. The text before the
 * snippet must not pass the end tag, or a component further down the page would count.
 */
const titleWithSnippet =
  /<(title|textarea)\b(?:"[^"]*"|'[^']*'|[^'">])*>(?:(?!<\/\1)[\s\S])*?<(Snippet)[\s/>]/;

/** `![The price: <Snippet id={42} />](price.png)`. The embed stands before the first `]`. */
const imageWithSnippet = /(!\[)[^\]]*?<(Snippet|snippet-embed)[\s/>]/;

/**
 * Rejects a source with an embed that is never rendered: in the text of an image in MDX or, before Astro 7,
 * in a title.
 *
 * @param astro the major version of Astro
 * @throws UserError with the file and the line of the embed.
 */
export function refuseUnrendered(source: string, file: string, root: string, astro: number): void {
  const isMdx = file.endsWith('.mdx');
  if (!isMdx && !source.includes('astro-snippets/components')) return;
  const text = withoutComments(source, file);
  const match = (isMdx ? imageWithSnippet : titleWithSnippet).exec(text);
  if (!match) return;

  const [whole, element, name] = match;
  const line = text.slice(0, match.index + whole.length).split('\n').length;
  const where = isMdx
    ? 'the text of an image, which is plain text in MDX.'
    : `<${element}>, where Astro ${astro} renders no components.`;
  const message = `${relativeSource(file, root)}:${line} contains <${name}> in ${where}`;
  const embed = '<snippet-embed id="42"></snippet-embed>';
  const hint = `Write ${isMdx ? `<img src="…" alt='${embed}' />` : embed} there.`;
  const error = userError('unrendered-component', message, hint);
  throw Object.assign(error, { loc: { file, line, column: 0 } });
}
