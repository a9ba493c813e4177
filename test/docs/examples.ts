import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parseEnv, promisify } from 'node:util';
import { parseFragment } from 'parse5';
import { compile as compileSvelte } from 'svelte/compiler';
import { parse as parseVue } from 'vue/compiler-sfc';
import { parse as parseYaml } from 'yaml';
import { parseRequest } from '../../src/client/snippet-request.ts';
import { environmentVariables } from '../../src/settings/variable-names.ts';
import { styledSites } from '../support/site/styled-sites.ts';
import type { CodeBlock } from './pages.ts';
import { shellFlaws } from './shell.ts';

/** Returns what is wrong with a code block. */
type Rule = (code: string, block: CodeBlock) => string[] | Promise<string[]>;

/** Languages that are type-checked together. */
export const typedLanguages: ReadonlySet<string> = new Set(['ts', 'tsx', 'js', 'astro']);

/** How blocks of the other languages are checked. */
const rules: Record<string, Rule> = {
  sh: async (code) => [...(await syntaxFlaws(code)), ...(await shellFlaws(code))],
  json: (code) => thrown(() => JSON.parse(code)),
  yaml: async (code) => [...thrown(() => parseYaml(code)), ...(await yamlShellFlaws(code))],
  html: (code) => [...htmlFlaws(code), ...embedFlaws(code)],
  md: (code) => {
    const [, frontmatter = '', body = code] = /^---\n([\s\S]*?)^---\n([\s\S]*)$/m.exec(code) ?? [];
    return [...thrown(() => parseYaml(frontmatter)), ...embedFlaws(frontmatter), ...embedFlaws(body)];
  },
  mdx: async (code) => {
    const from = createRequire(import.meta.resolve('@astrojs/mdx'));
    const { compile } = await import(pathToFileURL(from.resolve('@mdx-js/mdx')).href);
    return rejected(compile(code));
  },
  vue: (code) => [...parseVue(code).errors.map(({ message }) => message), ...embedFlaws(code)],
  svelte: (code) => [
    ...thrown(() => compileSvelte(code, {})),
    ...embedFlaws(code.replace(/=\{('.*?')\}/g, '=$1')),
  ],
  // A test builds a site with it.
  css: (code) =>
    styledSites['Tailwind 4'].files()['src/styles/global.css'] === code ? [] : ['is not what a test builds'],
  dotenv: (code) => {
    const names = Object.keys(parseEnv(code));
    const known: readonly string[] = Object.values(environmentVariables);
    return names.length === 0 ? ['is empty'] : names.filter((name) => !known.includes(name));
  },
  ini: async (code) => {
    const lines = code.split('\n').filter((line) => !/^(#.*|\[\w+\]|\w+=.+|)$/.test(line));
    const [, start = ''] = /^ExecStart=(.*)$/m.exec(code) ?? [];
    return [...lines, ...(await shellFlaws(start))];
  },
  caddyfile: (code) =>
    /^\S+ \{\n(\t\w+( [\w.:-]+)*\n)+\}\n$/.test(code) ? [] : ['is not a block of directives'],
  nginx: (code) =>
    /^[^{}\n]+ \{\n( {2}\w+( \S+)+;\n)+\}\n$/.test(code) ? [] : ['is not a block of directives'],
  // Output, which is regenerated and compared.
  text: (_, { generated }) => (generated ? [] : ['output that is written by hand']),
};

/** @returns what is wrong with a block, or that nothing checks its language. */
export async function blockFlaws(block: CodeBlock): Promise<string[]> {
  const { page, line, language, code } = block;
  const rule = rules[language];
  const flaws = rule === undefined ? [`nothing checks the language "${language}"`] : await rule(code, block);
  return flaws.map((flaw) => `${page}:${line}: ${flaw}`);
}

function thrown(run: () => unknown): string[] {
  try {
    run();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

async function rejected(promise: Promise<unknown>): Promise<string[]> {
  return promise.then(
    () => [],
    (error: Error) => [error.message],
  );
}

/** Windows has no `sh`. */
async function syntaxFlaws(code: string): Promise<string[]> {
  if (process.platform === 'win32') return [];
  return rejected(promisify(execFile)('sh', ['-n', '-c', code]));
}

async function yamlShellFlaws(code: string): Promise<string[]> {
  const scripts = Array.from(
    code.matchAll(/^ *(?:- )?(?:run|PUBLISH): (.*)$/gm),
    ([, script = '']) => script,
  );
  return (await Promise.all(scripts.map(shellFlaws))).flat();
}

function htmlFlaws(code: string): string[] {
  const flaws: string[] = [];
  parseFragment(code, { onParseError: ({ code: name }) => flaws.push(name) });
  return flaws;
}

/** Embeds that a build would refuse. */
function embedFlaws(code: string): string[] {
  const tags = Array.from(
    code.matchAll(/<snippet-embed\b((?:[^>"']|"[^"]*"|'[^']*')*)>/g),
    ([, tag = '']) => tag,
  );
  const ends = code.match(/<\/snippet-embed>/g) ?? [];
  const flaws = tags.flatMap((attributes) => {
    const [, id = ''] = /\bid="(\d+)"/.exec(attributes) ?? [];
    const [, params] = /\bparams='([^']*)'/.exec(attributes) ?? [];
    return thrown(() => parseRequest(id, params));
  });
  return tags.length === ends.length ? flaws : [...flaws, 'an embed is not closed'];
}

/** Names that blocks use without an import, since the text around them explains them. */
const given: Record<string, string> = {
  snippets: `import snippets from 'astro-snippets';`,
  UnoCSS: `import UnoCSS from 'unocss/vite';`,
  text: 'declare const text: string;',
};

const react = '/** @jsxImportSource react */\n';

/** The reader's own files that blocks import. */
const readersFiles = {
  'src/components/Box.tsx': `${react}import type { ReactNode } from 'react';
export default function Box({ children }: { children?: ReactNode }) {
  return <div>{children}</div>;
}
`,
};

/** The files of a site with all blocks, by name, and where each block comes from. */
export function siteOf(blocks: readonly CodeBlock[]): {
  files: Record<string, string>;
  places: Map<string, string>;
} {
  const files: Record<string, string> = {
    'astro.config.mjs': `import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
// There is no service: entries of collections are empty.
export default defineConfig({ integrations: [snippets({ missingKey: 'children' })] });`,
    'tsconfig.json': `{ "extends": "astro/tsconfigs/strict", "include": [".astro/types.d.ts", "src"], "compilerOptions": { "jsx": "react-jsx" } }`,
    ...readersFiles,
  };
  const places = new Map<string, string>();
  for (const { page, line, language, code } of blocks) {
    const named = fileNameOf(code);
    const own = `src/pages/${page.replace(/\W/g, '-')}-${line}.${language === 'js' ? 'ts' : language}`;
    // A site has one config, and the docs have many.
    const name = named === '' || !named.startsWith('src/') ? own : named;
    if (files[name] !== undefined) throw new Error(`${page}:${line}: there is another ${name} in the docs.`);
    files[name] = language === 'astro' ? code : (language === 'tsx' ? react : '') + withGiven(code);
    places.set(name, `${page}:${line}`);
  }
  return { files, places };
}

/** The name of the file that a block is, which its first comment has; empty for a part of a file. */
export function fileNameOf(code: string): string {
  return /^(?:---\n)?\/\/ (\S+\.\w+)\n/.exec(code)?.[1] ?? '';
}

function withGiven(code: string): string {
  const missing = Object.entries(given).filter(([name]) => {
    const isUsed = new RegExp(`(?<![.\\w'/-])${name}(?=[(),])`).test(code);
    return isUsed && !new RegExp(`^(import|const) [^=\\n]*\\b${name}\\b`, 'm').test(code);
  });
  return [...missing.map(([, line]) => line), code, 'export {};\n'].join('\n');
}
