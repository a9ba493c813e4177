import { expect, test } from 'vitest';
import { replaceCandidates } from '../../src/content/attributes.ts';
import { localizeImages } from '../../src/content/images.ts';

const copies: Record<string, [width: number, height: number]> = {
  'https://cdn.test/a.png': [600, 400],
  'https://cdn.test/b.png': [300, 300],
  'https://cdn.test/c,d.png': [30, 20],
};

const localize = (html: string) =>
  localizeImages(html, async ({ href, host }) => {
    if (host !== 'cdn.test') return undefined;
    const [width, height] = copies[href] ?? [];
    if (width === undefined || height === undefined) return { flaw: 'its host answered with 404' };
    const file = href.replace(/.*\//, '');
    return { copy: { file, width, height, href: `/_astro/${file}` } };
  });

const added = 'width="600" height="400" loading="lazy" decoding="async"';

test.for([
  ['in quotes', '<p><img src="https://cdn.test/a.png"></p>', `<p><img ${added} src="/_astro/a.png"></p>`],
  [
    'in single quotes',
    `<img alt='"' src='https://cdn.test/a.png'/>`,
    `<img ${added} alt='"' src='/_astro/a.png'/>`,
  ],
  ['without quotes', '<IMG SRC=https://cdn.test/a.png>', `<IMG ${added} SRC="/_astro/a.png">`],
  ['with an entity', '<img src="https://cdn&period;test/a.png">', `<img ${added} src="/_astro/a.png">`],
  ['without a scheme', '<img src="//cdn.test/a.png">', `<img ${added} src="/_astro/a.png">`],
  ['with a fragment', '<img src="https://CDN.test/a.png#x">', `<img ${added} src="/_astro/a.png">`],
  [
    'in a template',
    '<template><img src="//cdn.test/a.png"></template>',
    `<template><img ${added} src="/_astro/a.png"></template>`,
  ],
  [
    'in <noscript>',
    '<img data-src="//cdn.test/a.png"><noscript><p><img src="//cdn.test/a.png"></p></noscript>',
    `<img data-src="//cdn.test/a.png"><noscript><p><img ${added} src="/_astro/a.png"></p></noscript>`,
  ],
  [
    'of two',
    '<img src="//cdn.test/a.png" src="//cdn.test/b.png">',
    `<img ${added} src="/_astro/a.png" src="//cdn.test/b.png">`,
  ],
] as const)('a src %s is replaced', async ([, html, expected]) => {
  expect((await localize(html)).html).toBe(expected);
});

test.for([
  '<img src="/own.png">',
  '<img src="https://other.test/a.png">',
  '<img src="data:image/png;base64,AAAA">',
  '<img alt="https://cdn.test/a.png">',
  '<!-- <img src="https://cdn.test/a.png"> -->',
  '<video><source src="https://cdn.test/a.png" srcset="https://cdn.test/a.png"></video>',
  '<a href="https://cdn.test/a.png">the picture</a>',
  '<textarea><img src="https://cdn.test/a.png"></textarea>',
  '<source srcset="https://cdn.test/a.png">',
  '<img src="https://cdn.test/a.png"',
])('%s stays as it is', async (html) => {
  expect(await localize(html)).toEqual({ html, images: [], flaws: [] });
});

test.for([
  ['width and height', 'width="60" height="50"', 'width="60" height="50"'],
  ['a width, and gets a computed height', 'width="300"', 'height="200" width="300"'],
  ['a height, and gets a computed width', 'height="200"', 'width="300" height="200"'],
  ['a width in percent, and gets no height', 'width="50%"', 'width="50%"'],
])('an image keeps %s', async ([, given, expected]) => {
  const html = `<img ${given} loading="eager" decoding="sync" src="//cdn.test/a.png">`;
  const [, attributes] =
    /<img (.*) loading="eager" decoding="sync" src=/.exec((await localize(html)).html) ?? [];
  expect(attributes).toBe(expected);
});

test('an image with fetchpriority="high" is not loaded lazily', async () => {
  const html = '<img fetchpriority="HIGH" src="//cdn.test/a.png">';
  expect((await localize(html)).html).toBe(
    '<img width="600" height="400" decoding="async" fetchpriority="HIGH" src="/_astro/a.png">',
  );
});

test('a picture gets its copies in srcset, and each source its own size', async () => {
  const html =
    '<picture><source media="(width < 600px)" srcset="//cdn.test/b.png 1x, https://other.test/b.png 2x">' +
    '<img src="//cdn.test/a.png" srcset="//cdn.test/a.png, //cdn.test/c,d.png 480w"></picture>';
  expect((await localize(html)).html).toBe(
    '<picture><source width="300" height="300" media="(width < 600px)" srcset="/_astro/b.png 1x, https://other.test/b.png 2x">' +
      `<img ${added} src="/_astro/a.png" srcset="/_astro/a.png, /_astro/c,d.png 480w"></picture>`,
  );
});

test('an image that could not be downloaded keeps its URL, and the others do not', async () => {
  const html = '<img src="//cdn.test/gone.png"> <img src="//cdn.test/a.png">';
  expect(await localize(html)).toEqual({
    html: `<img src="//cdn.test/gone.png"> <img ${added} src="/_astro/a.png">`,
    images: [
      { url: 'https://cdn.test/gone.png', flaw: 'its host answered with 404' },
      {
        url: 'https://cdn.test/a.png',
        copy: { file: 'a.png', href: '/_astro/a.png', width: 600, height: 400 },
      },
    ],
    flaws: ['shows https://cdn.test/gone.png from its own host: its host answered with 404.'],
  });
});

test.for([
  ['a.png', ['a.png']],
  [' a.png 1x , b.png 2x,', ['a.png', 'b.png']],
  ['a.png, b.png', ['a.png', 'b.png']],
  ['a.png,b.png', ['a.png,b.png']],
  ['data:image/png;base64,AA== 1x, b,c.png 2x', ['data:image/png;base64,AA==', 'b,c.png']],
  ['a.png x(1, 2), b.png', ['a.png', 'b.png']],
  [' , ', []],
] as const)('a browser finds in srcset="%s" the URLs %j', ([srcset, urls]) => {
  expect(candidatesIn(srcset)).toEqual(urls);
});

test.for([',', '(', 'x'])('a million of %j in srcset take linear time', (character) => {
  const many = character.repeat(1_000_000);
  expect(candidatesIn(`a${many}b 2x${many}, c`)[0]).toBe(`a${many}b`);
});

function candidatesIn(srcset: string): string[] {
  const found: string[] = [];
  const replaced = replaceCandidates(srcset, (url) => {
    found.push(url);
    return `<${url}>`;
  });
  expect(replaced.replace(/[<>]/g, '')).toBe(srcset);
  return found;
}
