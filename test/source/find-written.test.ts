// biome-ignore-all lint/suspicious/noTemplateCurlyInString: code of modules in strings.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { findWritten } from '../../src/source/find-written.ts';
import type { SyntaxNode } from '../../src/source/syntax-tree.ts';

const astro = createRequire(import.meta.url).resolve('astro/package.json');
const { parseAst }: { parseAst(code: string): SyntaxNode } = await import(
  pathToFileURL(createRequire(astro).resolve('vite')).href
);
const find = (code: string) => findWritten(parseAst(code));

test.each([
  ['JSX', `_jsx("snippet-embed", { id: 1 })`],
  ['JSX in development', `_jsxDEV("snippet-embed", {}, void 0, false)`],
  ['JSX as a bundler writes it', `(0, jsx)("snippet-embed", {})`],
  ['createElement of the DOM', `document.createElement('SNIPPET-EMBED')`],
  ['createElementNS', `document.createElementNS(space, 'snippet-embed')`],
  ['Vue', `const C = _resolveComponent("snippet-embed")`],
  ['Astro', `$$renderComponent($$result, "snippet-embed", "snippet-embed", { "id": "1" })`],
  ['a string', `x.innerHTML = '<snippet-embed id="1"></snippet-embed>'`],
  ['a string that is put together', `'<snippet-embed id="' + id + '"></snippet-embed>'`],
  ['a template', 'html`<p><snippet-embed id=${id}></snippet-embed></p>`'],
  ['a template with all attributes in one expression', '`<snippet-embed${attributes}></snippet-embed>`'],
  ['an attribute', 'html`<p title="<snippet-embed id=1 />">`'],
  ['a title', '`<title><snippet-embed id="1"></snippet-embed></title>`'],
  ['inside an expression of a template', "`<p>${on ? '<snippet-embed />' : ''}</p>`"],
  ['after an example', "`<code>${a}</code> ${'<snippet-embed />'}`"],
  ['the replacement of a search', `text.replace('x', '<snippet-embed id="1">')`],
])('writes the element: %s', (_what, code) => {
  expect(find(code)).toContain('writes');
});

test.each([
  ['a query', `document.querySelector('snippet-embed')`],
  ['a comparison', `if (tag === 'snippet-embed') go()`],
  ['a case', `switch (tag) { case 'snippet-embed': }`],
  ['a search', `text.includes('<snippet-embed ')`],
  ['a search string', `text.replaceAll('<snippet-embed />', '')`],
  ['an error', `throw new Error('no <snippet-embed id> here')`],
  ['a longer name', `'<snippet-embeds>'`],
])('names the element, but does not write it: %s', (_what, code) => {
  expect([...find(code)]).toEqual(['names']);
});

test.each([
  ['a comment', `// <snippet-embed id="1">\nx()`],
  ['a comment in HTML', '`<!-- <snippet-embed id="1"></snippet-embed> -->`'],
  ['code in a template', '`<code><snippet-embed id="1"></snippet-embed></code>`'],
  ['an expression of code in a template', "`<b>${a}</b><pre>${'<snippet-embed />'}</pre>`"],
  ['ignored, in a template', '`<div data-snippets-ignore><p><snippet-embed></snippet-embed></p></div>`'],
  ['code in JSX', `_jsx('code', { children: '<snippet-embed id="1">' })`],
  ['data-snippets-ignore', `_jsx('p', { 'data-snippets-ignore': '', children: '<snippet-embed id="1">' })`],
])('is an example, or no embed: %s', (_what, code) => {
  expect([...find(code)]).toEqual([]);
});

test('the slot of a server island is told apart from its fallback and its surroundings', () => {
  const island = (slots: string) =>
    `import { Snippet } from 'astro-snippets/components';
$$renderComponent($$result, "Late", Late, { "server:component-directive": "defer" }, ${slots})`;
  const render = 'renderComponent($$result, "Snippet", Snippet, { "id": 1 })';
  expect(find(island(`{ default: () => ${render} }`))).toContain('passes');
  expect(find(island('{ default: () => `<snippet-embed />` }'))).toContain('passes');
  expect(find(island(`{ fallback: () => ${render} }`))).not.toContain('passes');
  expect([...find(`${island('{}')}; ${render}`)]).toEqual(['imports']);
});

const component = `import { Snippet as S } from 'astro-snippets/components';\n`;
const shown = 'renderComponent($$result, "S", S, { "id": 1 })';

test.each([
  ['behind &&', `Astro.isPrerendered && ${shown}`],
  [
    'behind && with another condition',
    `Astro.isPrerendered && on && ${shown}; on && Astro.isPrerendered && ${shown}`,
  ],
  ['in a template', `\`<p>\${Astro.isPrerendered && \`<b>\${${shown}}</b>\`}</p>\``],
  ['in a conditional expression', `Astro.isPrerendered ? ${shown} : live()`],
  [
    'where the condition is negated',
    `!Astro.isPrerendered ? live() : ${shown}; !Astro.isPrerendered || ${shown}`,
  ],
  ['in an if statement', `if (context.isPrerendered) { ${shown} } else live()`],
  ['behind a constant', `const isStatic = Astro.isPrerendered && on; isStatic && ${shown}`],
  ['behind a constant of its own name', `const { isPrerendered } = Astro; isPrerendered ? ${shown} : ''`],
  ['behind a renamed constant', `const { isPrerendered: yes } = Astro; !!yes && ${shown}`],
  ['in the slot of a component', `c(L, {}, { default: () => \`\${Astro?.isPrerendered && ${shown}}\` })`],
  ['imported behind the condition', `Astro.isPrerendered && (await import('astro-snippets/components'))`],
])('is guarded, so that no page on demand renders it: %s', (_what, code) => {
  expect([...find(component + code)]).toEqual([]);
  const element = code.replaceAll(shown, `'<snippet-embed id="1"></snippet-embed>'`);
  if (element !== code) expect([...find(element)]).toEqual(['guards']);
});

test.each([
  ['behind another condition', `Astro.props.banner && ${shown}`],
  ['behind the opposite', `!Astro.isPrerendered && ${shown}`],
  ['in the other branch', `Astro.isPrerendered ? live() : ${shown}`],
  ['behind a condition that is also true elsewhere', `(Astro.isPrerendered || on) && ${shown}`],
  ['behind a condition that is sometimes unknown', `Astro.isPrerendered ?? ${shown}`],
  ['behind what is false elsewhere, too', `(!Astro.isPrerendered && on) || ${shown}`],
  ['behind a variable', `let isStatic = Astro.isPrerendered; isStatic && ${shown}`],
  ['behind a computed property', `Astro[isPrerendered] && ${shown}`],
  ['once with and once without', `Astro.isPrerendered && ${shown}; ${shown}`],
  ['beside the condition', `\`\${Astro.isPrerendered} \${${shown}}\``],
])('is not guarded: %s', (_what, code) => {
  expect([...find(component + code)]).toEqual(['imports']);
  expect(find(code.replaceAll(shown, `'<snippet-embed id="1"></snippet-embed>'`))).toContain('writes');
});

test.each([
  ['exported again', `export { Snippet } from 'astro-snippets/components'`],
  ['exported again with everything', `export * from 'astro-snippets/components'`],
  ['exported after an import', `${component}export { S }`],
  ['imported dynamically', `await import('astro-snippets/components')`],
  [
    'a namespace',
    `import * as all from 'astro-snippets/components'; ${shown.replaceAll('S', 'all.Snippet')}`,
  ],
])('a component is not guarded where it is %s', (_what, code) => {
  expect([...find(code)]).toEqual(['imports']);
});

test('a component that is imported and not used is nothing', () => {
  expect([...find(component)]).toEqual([]);
});

test('a guard changes nothing for what a server island gets', () => {
  const island = `$$renderComponent($$result, "Late", Late, { "server:component-directive": "defer" }, { default: () => '<snippet-embed />' })`;
  expect([...find(`Astro.isPrerendered && ${island}`)]).toEqual(['passes']);
});

test('an element that a compiled component creates behind a guard is no mention', () => {
  const created = `$$renderComponent($$result, "snippet-embed", "snippet-embed", { "id": "1" })`;
  expect([...find(`Astro.isPrerendered && ${created}`)]).toEqual(['guards']);
});
