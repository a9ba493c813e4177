import { describe, expect, test } from 'vitest';
import type { FileKind } from '../../src/embed/found-embed.ts';
import { scan } from '../../src/embed/scan.ts';

const foreignIn = (text: string, kind: FileKind = 'html') =>
  scan(Buffer.from(text), kind).embeds.map(({ foreign }) => foreign);
const embedWith = (attributes: string) => `<snippet-embed id="1" ${attributes}></snippet-embed>`;

test.for<[attributes: string, foreign: string]>([
  ['hidden', 'hidden'],
  ['class="big"', 'class'],
  // Astro adds its name to a class of the author's, which is lost.
  ['class="big astro-dvjtw6vm"', 'class'],
  ['class="astro-island"', 'class'],
  ['style="color:red"', 'style'],
  ['style="color:red;--color: red;"', 'style'],
  ['style="--color: red;color:red;"', 'style'],
  ['data-reveal', 'data-reveal'],
  ['data-astro-transition-scope="astro-d462owmf-1"', 'data-astro-transition-scope'],
  ['data-astro-transition-persist="x"', 'data-astro-transition-persist'],
  ['data-snippets-ignore', 'data-snippets-ignore'],
  ['aria-label="x"', 'aria-label'],
  ['ROLE=note', 'role'],
  ['dir="rtl" title="x"', 'dir'],
  ['itemprop="price"', 'itemprop'],
  ['is="x-y"', 'is'],
  ['client:load', 'client:load'],
])('`%s` on an embed in a page would be lost', ([attributes, foreign]) => {
  expect(foreignIn(`<p>${embedWith(attributes)}</p>`)).toEqual([foreign]);
});

// What real builds wrote with Astro 6 and 7, React, Preact, Vue, Svelte and Solid, and `astro dev`.
test.for([
  'params="{}" as=text optional',
  'key="a"',
  'lang=de xml:lang="de"',
  'data-astro-cid-dvjtw6vm="true"',
  'class="astro-dvjtw6vm"',
  'class=" astro-dvjtw6vm astro-pz5wh726 "',
  'class="svelte-zqaal4"',
  'class="svelte-zqaal4 astro-dvjtw6vm"',
  'class="jsx-1234567890"',
  'class=""',
  'style="--color: red;"',
  'style="--color: red;--image: url(data:image/png;base64,AA);--font: &quot;A; B&quot;;"',
  'data-v-a2ebe1d8',
  'data-hk="s00000"',
  'data-astro-source-file="/a.astro" data-astro-source-loc="1:2"',
  'data-sentry-component="Price"',
  'q:key="x"',
  '_ngcontent-ng-c1=""',
])('`%s` on an embed is its own, or of a tool', (attributes) => {
  expect(foreignIn(`<p>${embedWith(attributes)}</p>`)).toEqual([undefined]);
});

test.for([
  ['a title', 'html', `<title>${embedWith('class="x"')}</title>`],
  ['an attribute', 'html', `<i title='${embedWith('class="x"')}'></i>`],
  ['escaped text', 'html', `<p>${embedWith('class="x"').replaceAll('<', '&lt;')}</p>`],
  ['srcdoc', 'html', `<iframe srcdoc='${embedWith('class="x"')}'></iframe>`],
  ['JSON', 'json', JSON.stringify(embedWith('class="x"'))],
  ['a feed', 'xml', `<d><![CDATA[${embedWith('class="x"')}]]></d>`],
  ['a text file', 'text', embedWith('class="x"')],
] as const)(
  'an attribute of an embed in %s is no error, as what is there has no attributes, or may be an excerpt',
  ([, kind, text]) => {
    expect(foreignIn(text, kind)).toEqual([undefined]);
  },
);

describe('`slot` on an embed', () => {
  const slotted = embedWith('slot="y"');
  const shadow = '<template shadowrootmode="open"><slot name="y"></slot></template>';

  test.for([
    `<my-card>${slotted}</my-card>`,
    `<SL-CARD><p>x</p> ${slotted}</SL-CARD>`,
    `<div>${shadow}${slotted}</div>`,
    `<section><p>x</p>${slotted}${shadow}</section>`,
    `<my-list><li>x<li>y</li>${slotted}`,
  ])('would be lost in %s', (html) => expect(foreignIn(html)).toEqual(['slot']));

  test.for([
    `<body><div>${slotted}</div></body>`,
    slotted,
    `<my-card><div>${slotted}</div></my-card>`,
    `<my-card></my-card>${slotted}`,
    `<my-card>${embedWith('slot=""')}</my-card>`,
    `<astro-island><astro-slot name="y">${slotted}</astro-slot></astro-island>`,
    `<div>${shadow}<p>${slotted}</p></div>`,
    `<div><template>${shadow}</template>${slotted}</div>`,
  ])('was for a component of Astro in %s', (html) => expect(foreignIn(html)).toEqual([undefined]));

  test('each embed of a page is decided by its own parent', () => {
    expect(foreignIn(`<p>${slotted}</p><my-a>${slotted}<b>${slotted}</b></my-a>${slotted}`)).toEqual([
      undefined,
      'slot',
      undefined,
      undefined,
    ]);
  });
});
