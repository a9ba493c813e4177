import { userError } from '../failures/errors.ts';
import { type CompiledMdx, findLostTags } from './mdx-images.ts';
import { relativeSource, withoutComments } from './source-file.ts';

const embedExample = '<snippet-embed id="42"></snippet-embed>';

/** An embed that is never rendered, and where the source has it. */
interface UnrenderedEmbed {
  message: string;
  hint: string;
  file: string;
  line: number;
}

/**
 * `<title>News: <Snippet id={42} /></title>`. Attributes may contain a `>` in quotes. The text before the
 * snippet must not pass the end tag, or a component further down the page would count.
 */
const titleWithSnippet =
  /<(title|textarea)\b(?:"[^"]*"|'[^']*'|[^'">])*>(?:(?!<\/\1)[\s\S])*?<(Snippet)[\s/>]/;

/**
 * Rejects an Astro component with an embed that is never rendered: in a title before Astro 7.
 *
 * @param astro the major version of Astro
 * @throws UserError with the file and the line of the embed.
 */
export function refuseInTitle(source: string, file: string, root: string, astro: number): void {
  if (!source.includes('astro-snippets/components')) return;
  const text = withoutComments(source, file);
  const match = titleWithSnippet.exec(text);
  if (!match) return;

  const [whole, element, name] = match;
  const line = text.slice(0, match.index + whole.length).split('\n').length;
  const where = `<${element}>, where Astro ${astro} renders no components`;
  const message = `${relativeSource(file, root)}:${line} contains <${name}> in ${where}.`;
  throw unrenderedError({ message, hint: `Write ${embedExample} there.`, file, line });
}

/** What a component in the text of an image is told. */
const imageHint = `Write <img src="…" alt='${embedExample}' /> there.`;

/**
 * Rejects MDX with an embed in the text of an image, of which MDX keeps only the text.
 *
 * @param compile compiles MDX as the site does
 * @param warn called with a component of which it is not known whether it shows a snippet
 * @throws UserError with the file and the line of the embed.
 */
export async function refuseInImages(
  source: string,
  file: string,
  root: string,
  compile: (source: string) => Promise<CompiledMdx>,
  warn: (message: string) => void,
): Promise<void> {
  for (const { name, line, isEmbed } of await findLostTags(source, file, compile)) {
    const message = `${relativeSource(file, root)}:${line} contains <${name}> in the text of an image, which is plain text in MDX.`;
    if (isEmbed) throw unrenderedError({ message, hint: imageHint, file, line });
    warn(`${message} A snippet that it shows is lost. ${imageHint}`);
  }
}

function unrenderedError({ message, hint, file, line }: UnrenderedEmbed) {
  const error = userError('unrendered-component', message, hint);
  return Object.assign(error, { loc: { file, line, column: 0 } });
}
