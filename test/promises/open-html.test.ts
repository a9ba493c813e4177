import { describe, expect, test } from 'vitest';
import { leftOpen } from '../../src/content/open-elements.ts';
import { temporaryService } from '../support/service/service.ts';
import { folderWith } from '../support/site/folder.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

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
    expect(leftOpen(html)).toBe(what);
  });

  test.for([
    '',
    'a < b, a <= b, a &lt; b, 3 <4',
    '<p>a<p>b<li>c',
    '<b><i>a',
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
