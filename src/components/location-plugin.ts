import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { relative } from 'node:path';
import { type Source, sourceProp, writeSource } from './source-prop.ts';

interface TransformContext {
  getCombinedSourcemap(): ConstructorParameters<typeof SourceMap>[0];
}

/** A call that renders `<Snippet>`: its offset, and the offset just inside its props. */
interface Call {
  start: number;
  inside: number;
}

const imports = /import\s*\{([^}]*)\}\s*from\s*["']astro-snippets\/components["']/g;

/**
 * A Vite plugin that passes its file and line to each `<Snippet>`, for error messages. The stack does not contain them:
 * Astro renders a component after the page's own code has returned.
 */
export function locationPlugin() {
  let root = '';
  return {
    name: 'astro-snippets:location',
    configResolved(config: { root: string }) {
      root = config.root;
    },
    transform: {
      filter: { id: /\.(?:astro|mdx)$/, code: 'astro-snippets/components' },
      async handler(this: TransformContext, code: string, id: string) {
        const names = localNames(code);
        const calls = findCalls(code, names);
        if (calls.length === 0) return undefined;
        const file = relative(root, id).replaceAll('\\', '/');
        const places = id.endsWith('.mdx')
          ? placesInMdx(await readFile(id, 'utf8').catch(() => ''), names, calls.length)
          : placesInAstro(code, calls, this.getCombinedSourcemap());
        let written = '';
        let end = 0;
        for (const [index, { inside }] of calls.entries()) {
          const source = JSON.stringify(writeSource({ file, ...places[index] }));
          written += `${code.slice(end, inside)} "${sourceProp}": ${source},`;
          end = inside;
        }
        // No line moves, so the source map stays valid.
        return { code: written + code.slice(end), map: null };
      },
    },
  };
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
    String.raw`(?:\$\$renderComponent\(\s*\$\$result,\s*["'][^"']*["'],|jsxs?(?:DEV)?\()\s*${name},\s*\{`,
    'g',
  );
  return [...code.matchAll(call)].map(({ 0: text, index }) => ({
    start: index,
    inside: index + text.length,
  }));
}

function placesInAstro(
  code: string,
  calls: readonly Call[],
  payload: ConstructorParameters<typeof SourceMap>[0],
): Place[] {
  const map = new SourceMap(payload);
  return calls.map(({ start }) => {
    const lines = code.slice(0, start).split('\n');
    const entry = map.findEntry(lines.length - 1, lines.at(-1)?.length ?? 0);
    if (!('originalLine' in entry) || entry.originalLine === undefined) return {};
    return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  });
}

/** MDX is compiled without a source map. Its tags are in the order of the calls, if there are as many. */
function placesInMdx(source: string, names: readonly string[], count: number): Place[] {
  const examples = /^(`{3,}|~{3,})[\s\S]*?^\1|`[^`\n]+`|\{\/\*[\s\S]*?\*\/\}/gm;
  const text = source.replace(examples, (example) => example.replaceAll(/[^\n]/g, ' '));
  const tags = [...text.matchAll(new RegExp(String.raw`<${alternatives(names)}(?=[\s/>])`, 'g'))];
  if (tags.length !== count) return [];
  return tags.map(({ index }) => {
    const lines = text.slice(0, index).split('\n');
    return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  });
}

function alternatives(names: readonly string[]): string {
  return `(?:${names.map((name) => name.replaceAll('$', String.raw`\$`)).join('|')})`;
}
