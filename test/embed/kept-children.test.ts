import { expect, test } from 'vitest';
import { compose, replaceEmbeds } from '../../src/embed/replace-embeds.ts';
import { scan } from '../../src/embed/scan.ts';

/** Replaces the embeds of a page with content, or with their children. */
function put(page: string, content?: string): string {
  const bytes = Buffer.from(page);
  const composed = (format: Parameters<typeof compose>[1]) =>
    content === undefined ? undefined : compose({ html: content, text: content }, format);
  return replaceEmbeds(bytes, scan(bytes, 'html').embeds, ({ format }) => composed(format)).toString();
}

const head = '<!doctype html><html><head><title>x</title></head><body>';
const embedOf = (children: string, attributes = '') =>
  `<snippet-embed id="1"${attributes}>${children}</snippet-embed>`;

const directive =
  '<script>(()=>{var e=async t=>{await(await t())()};(self.Astro||(self.Astro={})).load=e;window.dispatchEvent(new Event("astro:load"));})();</script>';
const ownDirective =
  '<script>(()=>{var o=1;(self.Astro||(self.Astro={}))["on-click"]=o;window.dispatchEvent(new Event("astro:on-click"));})();</script>';
const islands =
  '<script>(()=>{class f extends HTMLElement{}customElements.get("astro-island")||customElements.define("astro-island",f)})();</script>';

// As Astro 5, 6 and 7 write them, in builds and in `astro dev`.
test.for<[what: string, kept: string]>([
  ['the style of islands', '<style>astro-island,astro-slot,astro-static-slot{display:contents}</style>'],
  ['a directive', directive],
  ["a site's own directive", ownDirective],
  ['the script of islands', islands],
  ['the events of Solid', '<script>window._$HY||(e=>{})(_$HY={events:[]});</script>'],
  ['server islands', '<script>async function replaceServerIsland(id, r) { let s; }</script>'],
  [
    'the script of a component',
    '<script type="module" src="/_astro/Big.astro_astro_type_script_index_0_lang.UTbC2Ztu.js"></script>',
  ],
  ['an inlined script of a component', '<script type="module">console.log(`</p>`)</script>'],
  ['a script of a component in dev', '<script type="module" src="/src/X.astro?astro&type=script"></script>'],
  ['a style sheet', '<link rel="stylesheet" href="/_astro/x.DpQ1.css">'],
  ['an inlined style sheet', '<style>.wide[data-astro-cid-pz5wh726]{color:#00f}\n</style>'],
  ['a style in dev', '<style data-vite-dev-id="/src/X.astro?astro&amp;type=style">.a{}</style>'],
  ['the custom element of a theme', '<script>\n(() => { customElements.define("x-tabs", X) })()\n</script>'],
])('%s among the children stays before the content', ([, kept]) => {
  const page = `${head}<p>${embedOf(`<b>a</b>${kept}<astro-island>b</astro-island>`)}</p>`;
  expect(put(page, 'c')).toBe(`${head}<p>${kept}c</p>`);
  expect(put(page)).toBe(`${head}<p><b>a</b>${kept}<astro-island>b</astro-island></p>`);
});

test.for<[what: string, children: string]>([
  ['a script', '<script>classic()</script>'],
  ['a script with a file', '<script src="/widget.js"></script>'],
  ['a module with more attributes', '<script type="module" async src="/widget.js"></script>'],
  ['data', '<script type="application/json">{}</script>'],
  ['the request of a server island', '<script type="module" data-astro-rerun data-island-id="a">x</script>'],
  ['another link', '<link itemprop="url" href="/x">'],
  ['a style in SVG', '<svg><style>.a{}</style><script>customElements.define("a-b")</script></svg>'],
  ['a style without scripts', '<noscript><style>.a{}</style></noscript>'],
  ['a style in a template', '<template><style>.a{}</style><link rel="stylesheet" href="x"></template>'],
  ['a style in a comment', '<!-- <style>.a{}</style> -->'],
])('%s goes with the children', ([, children]) => {
  expect(put(`${head}<p>${embedOf(children)}</p>`, 'c')).toBe(`${head}<p>c</p>`);
});

test('all that stays keeps its order, and also stays before a text and before a block that replaces a paragraph', () => {
  const children = `<style>a{}</style>${directive}<i>&lt;</i>${islands}<script>classic()</script>`;
  const kept = `<style>a{}</style>${directive}${islands}`;
  expect(put(`${head}<p>${embedOf(children)}</p>ü`, '<hr>')).toBe(`${head}${kept}<hr>ü`);
  expect(put(`${head}<p>${embedOf(children, ' as="text"')}</p>`, '<')).toBe(`${head}<p>${kept}&lt;</p>`);
  expect(put(`${head}<p>${embedOf(children, ' as="text"')}</p>`)).toBe(`${head}<p>${kept}&lt;</p>`);
});

test.for([
  ['<!DOCTYPE html>\n<p>x</p>', true],
  [`<p>${embedOf('')}</p>`, true],
  ['<!DOCTYPE html><html lang="en"><body>', false],
  [head, false],
] as const)('behind %j, any script among the children may be one of the <head>: %s', ([before, isKept]) => {
  const page = `${before}${embedOf('<p>a</p><script>integration()</script><script src="/x.js"></script>')}`;
  const scripts = '<script>integration()</script><script src="/x.js"></script>';
  expect(put(page, '')).toBe(put(before, '') + (isKept ? scripts : ''));
});
