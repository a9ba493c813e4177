import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leftOpen } from '../../src/html/left-open.ts';
import { cli } from '../support/cli.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

describe('an element that a content leaves open is found:', () => {
  test.for([
    ['<!-- a', 'a comment'],
    ['<!-- a --!', 'a comment'],
    ['<p>a</p><a href="x', 'a tag, or a quote in it,'],
    ['<a href=x', 'a tag, or a quote in it,'],
    ['<a href="x>y</a> and on', 'a tag, or a quote in it,'],
    ['<!doctype', 'a doctype'],
    ['<![CDATA[ a', 'a comment or a tag'],
    ['<?php a', 'a comment or a tag'],
    ['<svg><![CDATA[ a', 'a CDATA section'],
    ['<textarea>a', '<textarea>'],
    ['<textarea>a</textarea', '<textarea>'],
    ['<title>', '<title>'],
    ['<script>a', '<script>'],
    ['<script><!-- <script>a</script>', '<script>'],
    ['<style>a', '<style>'],
    ['<noscript>a', '<noscript>'],
    ['<iframe>', '<iframe>'],
    ['<plaintext>', '<plaintext>'],
    ['<template><b>a</b>', '<template>'],
    ['<select><option>a', '<select>'],
    ['<svg><g>', '<svg>'],
    ['<details><summary>a</summary>', '<details>'],
    ['<audio>', '<audio>'],
    ['<canvas>', '<canvas>'],
    ['<dialog>', '<dialog>'],
    ['<math><mi>', '<math>'],
    ['<noembed>', '<noembed>'],
    ['<noframes>', '<noframes>'],
    ['<object>', '<object>'],
    ['<video>', '<video>'],
    ['<xmp>', '<xmp>'],
    ['<snippet-end></snippet-end><!--', 'a comment'],
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

describe('a content that leaves an element open is a warning', () => {
  let service: TestService;
  let site: Site;
  beforeAll(async () => {
    service = await startTestService({ 1: '<textarea>open', 2: 'two', 3: '<xmp>open' });
    site = await createSite({
      'src/pages/index.html':
        '<p><snippet-embed id="1"></snippet-embed></p><p><snippet-embed id="2"></snippet-embed></p>',
      'src/pages/about.html': '<p><snippet-embed id="1"></snippet-embed></p>',
      // As text, it has no tags.
      'src/pages/title.html':
        '<title><snippet-embed id="3"></snippet-embed></title><p><snippet-embed as="text" id="3"></snippet-embed></p>',
    });
  });
  afterAll(async () => {
    await site.remove();
    await service.close();
  });

  test('of a build, with the snippet and its pages, if it is shown as HTML', async () => {
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode).toBe(0);
    expect(output).toContain(
      'Snippet 1 leaves <textarea> open, which swallows the rest of the page. It is on about/index.html, index.html.',
    );
    expect(output).not.toContain('xmp');
    expect(await site.read('index.html')).toContain('<p><textarea>open</p>');
    expect(await site.read('title/index.html')).toContain('<title>open</title><p>open</p>');
  });

  test('of a refresh, only for snippets that it writes', async () => {
    const refresh = () => cli(site.directory, ['refresh'], service.environment);
    service.put(2, '<iframe>');
    const first = await refresh();
    expect(first.exitCode).toBe(0);
    expect(first.output).toContain(
      'Snippet 2 leaves <iframe> open, which swallows the rest of the page. It is on index.html.',
    );
    expect(first.output).not.toContain('Snippet 1');
    service.put(2, 'two');
    expect((await refresh()).output).toBe('index.html is up to date\n');
  });
});
