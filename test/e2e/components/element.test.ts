import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from '../../support/site/folder.ts';
import { type Site, temporarySite } from '../../support/site/site.ts';

const root = join(import.meta.dirname, '../../..');

const right = `
    <snippet-embed id="42" params={'{"plan":"pro"}'} as="text">children</snippet-embed>
    <snippet-embed id={42} as="html" optional><b>one</b> two</snippet-embed>
    <snippet-embed id="42" params={undefined} as={undefined}></snippet-embed>`;

// Each line is an error.
const wrong = `
    <snippet-embed id={true}></snippet-embed>
    <snippet-embed id="42" as="markdown"></snippet-embed>
    <snippet-embed id="42" params={{ plan: 'pro' }}></snippet-embed>
    <snippet-embed></snippet-embed>
    <snippet-embed id="42" param="x"></snippet-embed>`;

const jsx = (source: string, markup: string) => `/** @jsxImportSource ${source} */
export const Page = () => (
  <p>${markup}
  </p>
);
`;

// In Svelte a brace begins an expression.
const quoted = `
    <snippet-embed id="42" params='{"plan":"pro"}' as="text">children</snippet-embed>`;

const inVue = (markup: string) =>
  `<script setup lang="ts"></script>
<template>${markup.replace(/(\w+)=\{(.*?)\}(?=[ >])/g, (_, name, value) => `:${name}="${value.replaceAll('"', '&quot;')}"`)}
</template>
`;
const inSvelte = (markup: string) => `<script lang="ts"></script>
${markup}
`;

const config = (folder: string) =>
  `{ "extends": "astro/tsconfigs/strictest", "include": [".astro/types.d.ts", "src/${folder}"], "compilerOptions": { "jsx": "react-jsx" } }`;

/** A site after `astro sync`. */
async function syncedSite(files: Record<string, string>): Promise<Site> {
  const site = await temporarySite({ 'src/pages/index.astro': 'x', ...files });
  expect(await site.sync()).toMatchObject({ exitCode: 0 });
  return site;
}

test('the element is typed in React, Preact, Solid, Vue and Svelte: checkers find exactly the errors', async () => {
  const jsxFiles = Object.entries({ react: 'react', preact: 'preact', solid: 'solid-js' }).flatMap(
    ([name, source]) => [
      [`src/jsx/${name}-right.tsx`, jsx(source, right + quoted)],
      [`src/jsx/${name}-wrong.tsx`, jsx(source, wrong)],
    ],
  );
  const list = '{[1, 2].map((id) => <snippet-embed key={id} id={id} />)}';
  const site = await syncedSite({
    'tsconfig.jsx.json': config('jsx'),
    'tsconfig.vue.json': config('vue'),
    'tsconfig.svelte.json': config('svelte'),
    ...Object.fromEntries(jsxFiles),
    'src/jsx/react-list.tsx': jsx('react', list),
    'src/jsx/preact-list.tsx': jsx('preact', list),
    'src/vue/right.vue': inVue(right + quoted),
    'src/vue/list.vue': inVue('<snippet-embed v-for="id in 3" :key="id" :id="id" />'),
    'src/vue/wrong.vue': inVue(wrong),
    'src/svelte/right.svelte': inSvelte(right),
    'src/svelte/list.svelte': inSvelte(
      '{#each [1, 2] as id (id)}<snippet-embed {id}></snippet-embed>{/each}',
    ),
    'src/svelte/wrong.svelte': inSvelte(wrong),
  });
  const [jsxOutput, vueOutput, svelteOutput] = await Promise.all([
    check(site, 'typescript/bin/tsc', '--project', 'tsconfig.jsx.json', '--noEmit'),
    check(site, 'vue-tsc/bin/vue-tsc.js', '--project', 'tsconfig.vue.json', '--noEmit'),
    check(site, 'svelte-check/bin/svelte-check', '--tsconfig', 'tsconfig.svelte.json', '--output', 'machine'),
  ]);
  expect(placesIn(jsxOutput)).toEqual(
    ['preact', 'react', 'solid'].flatMap((name) =>
      [4, 5, 6, 7, 8].map((line) => `src/jsx/${name}-wrong.tsx ${line}`),
    ),
  );
  // Vue allows unknown attributes.
  expect(placesIn(vueOutput)).toEqual([3, 4, 5, 6].map((line) => `src/vue/wrong.vue ${line}`));
  expect(placesIn(svelteOutput)).toEqual([3, 4, 5, 6, 7].map((line) => `src/svelte/wrong.svelte ${line}`));
});

test("a project's own declaration of an element does not conflict, nor does a second import of the types", async () => {
  const own = await syncedSite({
    'tsconfig.json': `{
      "extends": "astro/tsconfigs/strictest",
      "compilerOptions": { "jsx": "react-jsx" },
      "include": ["src/*.ts*", ".astro/integrations/**/*"]
    }`,
    'src/element.ts': `
      import 'react';
      import 'preact';
      import 'vue';
      import 'svelte/elements';
      import 'astro-snippets/element';
      declare module 'react' {
        namespace JSX {
          interface IntrinsicElements {
            'snippet-embed': { id: string; params?: string; title?: string; children?: ReactNode };
          }
        }
      }
      declare module 'preact' {
        namespace JSX {
          interface IntrinsicElements {
            'snippet-embed': any;
          }
        }
      }
      declare module 'vue' {
        interface GlobalComponents {
          'snippet-embed': any;
        }
      }
      declare module 'svelte/elements' {
        interface SvelteHTMLElements {
          'snippet-embed': { id: number };
        }
      }`,
    'src/page.tsx': `/** @jsxImportSource react */
      export const right = <snippet-embed id="1" title="x" />;
      export const wrong = <snippet-embed id={1} />;`,
  });
  const output = await check(own, 'typescript/bin/tsc', '--project', 'tsconfig.json');
  expect(placesIn(output)).toEqual(['src/page.tsx 3']);
});

test("the types find the project's framework, not another one beside this package", async () => {
  const own = await syncedSite({
    'tsconfig.json': config('pages'),
    'node_modules/solid-js/package.json': `{ "name": "solid-js", "exports": { "./jsx-runtime": { "types": "./jsx.d.ts" } } }`,
    'node_modules/solid-js/jsx.d.ts': `
      export declare namespace JSX {
        interface Element {}
        interface IntrinsicElements { p: {} }
      }
      export declare const jsx: unknown;`,
    'src/pages/_Page.tsx': jsx('solid-js', '<snippet-embed id="42" />\n<snippet-embed id={true} />'),
  });
  const output = await check(own, 'typescript/bin/tsc', '--project', 'tsconfig.json');
  expect(placesIn(output)).toEqual(['src/pages/_Page.tsx 4']);
});

test('in a project without any framework the types are no error', async () => {
  const project = await folderWith({
    'element.d.ts': await readFile(join(root, 'src/element.d.ts'), 'utf8'),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        ...{ noEmit: true, strict: true, target: 'esnext', types: [], skipLibCheck: false },
        ...{ module: 'esnext', moduleResolution: 'bundler' },
      },
      files: ['element.d.ts', 'index.ts'],
    }),
    // React without its types.
    'node_modules/react/package.json': '{ "name": "react", "main": "index.js" }',
    'node_modules/react/index.js': '',
    'index.ts': `import 'react';\nimport preact from 'preact';\nexport default preact;\n`,
  });
  const output = await check(project, 'typescript/bin/tsc', '--project', 'tsconfig.json');
  // The types do not declare modules that are not installed.
  expect(placesIn(output)).toEqual(['index.ts 2']);
  expect(output).toContain("Cannot find module 'preact'");
});

/** Runs a checker in a project. Returns its output. */
function check(
  { directory }: Pick<Site, 'directory'>,
  checker: string,
  ...arguments_: string[]
): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, 'node_modules', checker), ...arguments_],
      { cwd: directory, env: { ...process.env, NO_COLOR: '1' } },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
}

/** The file and line of each error in the project's own files, sorted. */
function placesIn(output: string): string[] {
  const places = output.matchAll(
    /^(?:\d+ ERROR ")?((?:\.astro|src|\w+\.)[^\s("]*)(?:\((\d+),\d+\): error|" (\d+):\d+ )/gm,
  );
  return [...places].map(([, file, line, other]) => `${file} ${line ?? other}`).sort();
}
