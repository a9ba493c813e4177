import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { originalPlace, placeAt, shownSource } from '../source/source-files.ts';
import { type Source, sourceProp, writeSource } from './source-prop.ts';

/** A source map as it is written. */
export type WrittenSourceMap = ConstructorParameters<typeof SourceMap>[0];

/** A call that renders `<Snippet>`: its offset, and the offset just inside its props. */
interface Call {
  start: number;
  inside: number;
}

const imports = /import\s*\{([^}]*)\}\s*from\s*["']astro-snippets\/components["']/g;

/**
 * Passes its file and line to each `<Snippet>` of a compiled module.
 *
 * @param id the file.
 * @param root the folder that the file is named from.
 * @returns `undefined` if it renders none.
 */
export async function passLocations(
  code: string,
  { id, root, map }: { id: string; root: string; map: () => WrittenSourceMap },
): Promise<string | undefined> {
  const names = localNames(code);
  const calls = findCalls(code, names);
  if (calls.length === 0) return undefined;
  const file = shownSource(id, root);
  const source = await readFile(id, 'utf8').catch(() => '');
  const tags = tagsIn(withoutHidden(id, source), names);
  const mapped = id.endsWith('.mdx') ? [] : placesByMap(code, calls, map());
  const isTag = ({ line, column }: Place) => tags.some((tag) => tag.line === line && tag.column === column);
  const isMapped = mapped.length > 0 && mapped.every(isTag);
  const places = isMapped ? mapped : placesInOrder(code, calls, tags);
  let written = '';
  let end = 0;
  for (const [index, { inside }] of calls.entries()) {
    const source = JSON.stringify(writeSource({ file, ...places[index] }));
    written += `${code.slice(end, inside)} "${sourceProp}": ${source},`;
    end = inside;
  }
  return written + code.slice(end);
}

type Place = Pick<Source, 'line' | 'column'>;

/** The names that a module gives to `Snippet`. */
function localNames(code: string): string[] {
  return [...code.matchAll(imports)].flatMap(([, list = '']) =>
    list.split(',').flatMap(
      (one) =>
        /^\s*Snippet(?:\s+as\s+([\w$]+))?\s*$/
          .exec(one)
          ?.slice(1)
          .map((name) => name ?? 'Snippet') ?? [],
    ),
  );
}

function findCalls(code: string, names: readonly string[]): Call[] {
  if (names.length === 0) return [];
  const name = alternatives(names);
  const call = new RegExp(
    String.raw`(?:\$\$renderComponent\(\s*\$\$result\d*,\s*["'][^"']*["'],|jsxs?(?:DEV)?\()\s*${name},\s*\{`,
    'g',
  );
  return [...code.matchAll(call)].map(({ 0: text, index }) => ({
    start: index,
    inside: index + text.length,
  }));
}

function placesByMap(code: string, calls: readonly Call[], payload: WrittenSourceMap): Place[] {
  const map = new SourceMap(payload);
  return calls.map(({ start }) => originalPlace(map, code, start) ?? {});
}

interface Tag extends Required<Pick<Source, 'line' | 'column'>> {
  text: string;
}

const examplesInMdx = /^(`{3,}|~{3,})[\s\S]*?^\1|`[^`\n]+`|\{\/\*[\s\S]*?\*\/\}/gm;
const hiddenInAstro = /^\s*---[\s\S]*?^---|<!--[\s\S]*?-->|\/\*[\s\S]*?\*\//gm;

/** Blanks out the parts of a file that render no component, such as frontmatter, comments and code. Offsets stay. */
export function withoutHidden(id: string, source: string): string {
  const hidden = id.endsWith('.mdx') ? examplesInMdx : hiddenInAstro;
  return source.replace(hidden, (found) => found.replaceAll(/[^\n]/g, ' '));
}

function tagsIn(text: string, names: readonly string[]): Tag[] {
  return [...text.matchAll(new RegExp(String.raw`<${alternatives(names)}(?=[\s/>])`, 'g'))].map(
    ({ index }) => ({ ...placeAt(text, index), text: text.slice(index) }),
  );
}

/**
 * MDX is compiled without a source map, and components before Astro 7 with one of whole files. Tags are in the order of
 * the calls, if there are as many, unless slots changed the order: then their ids differ.
 */
function placesInOrder(code: string, calls: readonly Call[], tags: readonly Tag[]): Place[] {
  if (tags.length !== calls.length) return [];
  return tags.map(({ line, column, text }, index) => {
    const call = code.slice(calls[index]?.inside);
    const [called, written] = [/^\s*"?id"?:\s*\(?["']?(\w+)/.exec(call), /^<\S+\s+id=["'{]*(\w+)/.exec(text)];
    return called !== null && written !== null && called[1] !== written[1] ? {} : { line, column };
  });
}

function alternatives(names: readonly string[]): string {
  return `(?:${names.map((name) => name.replaceAll('$', String.raw`\$`)).join('|')})`;
}
