import * as fc from 'fast-check';
import { parse } from 'parse5';
import { describe, expect, test } from 'vitest';
import { leftOpen } from '../../src/content/open-elements.ts';
import { formattingElements, hasOnlyOrdinaryTags } from '../../src/content/ordinary-tags.ts';
import { contexts } from '../../src/content/parse.ts';
import { temporaryService } from '../support/service/service.ts';
import { folderWith } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';
import { oneOf, runs } from '../support/tools/property.ts';

describe('an element that a content leaves open is found:', () => {
  test.for([
    ['<!-- a', 'a comment'],
    ['<!-- a --!', 'a comment'],
    ['<p>a</p><a href="x', 'a tag, or a quote in it,'],
    ['<a href=x', 'a tag, or a quote in it,'],
    ['<a href="x>y</a> and on', 'a tag, or a quote in it,'],
    ['3 <', 'a tag, or a quote in it,'],
    ['<!doctype', 'a doctype'],
    ['<![CDATA[ a', 'a comment or a tag'],
    ['<?php a', 'a comment or a tag'],
    ['<svg><![CDATA[ a', 'a CDATA section'],
    ['<textarea>a', '<textarea>'],
    ['<textarea>a</textarea', '<textarea>'],
    ['<script>a', '<script>'],
    ['<script><!-- <script>a</script>', '<script>'],
    ['<style>a', '<style>'],
    ['<noscript>a', '<noscript>'],
    ['<template><b>a</b>', '<template>'],
    ['<select><option>a', '<select>'],
    ['<svg><g>', '<svg>'],
    ['<details><summary>a</summary>', '<details>'],
    ['<math><mi>', '<math>'],
    ['<snippet-end></snippet-end><!--', 'a comment'],
    ...'audio canvas dialog iframe noembed noframes object plaintext title video xmp'
      .split(' ')
      .map((name) => [`<${name}>`, `<${name}>`] as const),
  ] as const)('%s leaves %s open', ([html, what]) => {
    expect(leftOpen(html)).toMatchObject({ what, isLost: true });
  });

  test.for([
    '',
    'a < b, a <= b, a &lt; b, 3 <4',
    '<p>a<p>b<li>c',
    '<div>',
    '</div></textarea>',
    '<tr><td>a',
    '<textarea><!-- </textarea>',
    '<script>"<!--"</script>',
    '<svg><style>a</style></svg><template>a</template><details>a</details>',
    '<img alt="<!--">',
  ])('%j leaves nothing open', (html) => {
    expect(leftOpen(html)).toBeUndefined();
  });
});

test.for([
  ['one\n<!-- two\n three', 2],
  ['<!-- a -->\n<!-- b\n-->\n<p>x</p>\n<!-- c\n\n', 5],
  ['<p>\n</p>\n<a href="x\n\n', 3],
  ['a\n<i>b</i>\n<textarea>\n', 3],
  ['a <\n\n3 <', 3],
  ['<b>a</b>\n<strong>\n<em>b', 2],
  ['<div>\n<form>\n</div>', 2],
  ['<p>x\n<noscript><!--\n', 2],
  ['\n\n<select><option>a', 3],
] as const)('what %j leaves open begins in line %i', ([html, line]) => {
  const { start } = openAnywhere(html) ?? {};
  expect(html.slice(0, start).split('\n')).toHaveLength(line);
  expect(start).toBeDefined();
});

describe('formatting that a content leaves open is found:', () => {
  test.for([
    ['<strong>free from 25 €. <a href="/pricing/">More', '<strong> and <a>'],
    ['<p>Only <b>today</p><p>and tomorrow</p>', '<b>'],
    ['<div><ul><li><em>deep</li></ul></div>', '<em>'],
    ['<b/>new', '<b>'],
    ['<a id="top"/>', '<a>'],
    ['<button><i>x</button>', '<i>'],
    ['<b><table><tr><td></b></td></tr></table>', '<b>'],
    ['<i><b><p>x</i>y', '<b>'],
    [`<a>${'<div>'.repeat(9)}</a>`, '<a>'],
    ['a <td><b>x</td>', '<b>'],
    // The <tbody> ends the inner <marquee>, whose end tag then ends the outer one.
    ['<marquee><b><table><th></th><marquee><tbody></tbody></marquee></table></b></marquee>', '<b>'],
    ...[...formattingElements].map((name) => [`<p>a <${name}>b</p>`, `<${name}>`] as const),
  ] as const)('%s leaves %s open', ([html, what]) => {
    expect(hasOnlyOrdinaryTags(html)).toBe(false);
    expect(openAnywhere(html)).toMatchObject({ what, isLost: false });
  });

  test.for([
    ['<table><tr><td>x', '<table>'],
    ['<div><table>x</div>', '<table>'],
    ['<form action="/search"><input>', '<form>'],
    ['<div><form></div>', '<form>'],
    // The end tag of the element around it closes the inner <div>.
    ['<form>x<div>', '<form>'],
    ['<marquee>x', '<marquee>'],
    ['<table><tr><td><b>x', '<table> and <b>'],
  ] as const)('%s leaves %s open, which the end of the element around it does not close', ([html, what]) => {
    expect(hasOnlyOrdinaryTags(html)).toBe(false);
    expect(openAnywhere(html)).toMatchObject({ what, isLost: false });
  });

  test.for([
    '<table><tr><td>x</table>',
    '<div><form></form></div>',
    '<form><table><tr><td></form></table>',
    '<tr><td>x',
    '<p><b>x</p></b>',
    '<b><p>x</b></p>',
    '<a>x<a>y</a>',
    '<table><tr><td><b>x</td></tr></table>',
    '<tr><td><b>x</td></tr>',
    '<object><b>x</object>',
    '<marquee><b>x</marquee>',
    '<nobr>x<nobr>y</nobr>',
    '<b><i>x</b></i>',
    'x</b></a>',
  ])('%s leaves nothing open', (html) => {
    expect(openAnywhere(html)).toBeUndefined();
  });

  const names = oneOf(
    'a b i em nobr font p div ul li button h1 h2 address span blockquote dd form br ruby rt',
  );
  const piece = fc.oneof(
    names.map((name) => `<${name}>`),
    names.map((name) => `</${name}>`),
    fc.constant('x'),
  );
  test('as a browser continues it in the paragraph behind', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const html = pieces.join('');
        const found = hasOnlyOrdinaryTags(html) ? undefined : openAnywhere(html);
        const isFormatting = found !== undefined && found.what !== '<form>';
        expect(isFormatting).toBe(isFormattedBehind(html));
      }),
      { numRuns: runs(2_000) },
    );
  });
});

const openAnywhere = (html: string) => contexts.map((before) => leftOpen(html, before)).find(Boolean);

/** Whether a paragraph behind HTML in the body of a page is inside a formatting element. */
function isFormattedBehind(html: string) {
  const page = parse(`<!doctype html><body>${html}<p><i-end>`);
  const stack = [...page.childNodes].map((node) => ({ node, isFormatted: false }));
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { node, isFormatted } = entry;
    if (!('childNodes' in node)) continue;
    if (node.nodeName === 'i-end') return isFormatted;
    const inside = isFormatted || formattingElements.has(node.nodeName);
    for (const child of node.childNodes) stack.push({ node: child, isFormatted: inside });
  }
  throw new Error('The paragraph is lost.');
}

test('content that leaves an element open is a warning, in a refresh only for the snippets that it writes', async () => {
  const service = await temporaryService({ 1: '<textarea>open', 2: 'two', 3: '<xmp>open' });
  const embed = (id: number, as = 'html') => `<snippet-embed id="${id}" as="${as}"></snippet-embed>`;
  const folder = await folderWith({
    'public/index.html': `<p>${embed(1)}</p><p>${embed(2)}</p>`,
    'public/about.html': `<p>${embed(1)}</p>`,
    // As text, it has no tags.
    'public/text.html': `<p>${embed(3, 'text')}</p>`,
  });
  const run = (...argv: string[]) => cli(folder.directory, argv, service.environment);
  const inlined = await exits(0, run('inline', 'public'));
  expect(inlined).toContain(
    'Snippet 1 leaves <textarea> open, which swallows the rest of the page. It is on about.html, index.html.',
  );
  expect(inlined).not.toContain('xmp');
  expect(await folder.read('public/about.html')).toBe('<p><textarea>open</p>');
  expect(await folder.read('public/text.html')).toBe('<p>open</p>');

  service.put(2, '<iframe>');
  const first = await exits(0, run('refresh'));
  expect(first).toContain(
    'Snippet 2 leaves <iframe> open, which swallows the rest of the page. It is on index.html.',
  );
  expect(first).not.toContain('Snippet 1');
  service.put(2, 'two');
  expect((await run('refresh')).output).toBe('Updated index.html\n');
});

test('formatting that content leaves open is a warning, and fails with --strict', async () => {
  const service = await temporaryService({ 1: '<strong>free. <a href="/pricing/">More' });
  const folder = await folderWith({
    'public/index.html': '<div><snippet-embed id="1"></snippet-embed></div>',
  });
  const run = (...argv: string[]) => cli(folder.directory, argv, service.environment);
  const flaw = 'leaves <strong> and <a> open, which browsers continue in the rest of the page.';
  expect(await exits(1, run('inline', 'public', '--strict'))).toContain(`Snippet 1: ${flaw} [left-open]`);
  expect(await exits(0, run('inline', 'public'))).toContain(`Snippet 1 ${flaw} It is on index.html.`);
});
