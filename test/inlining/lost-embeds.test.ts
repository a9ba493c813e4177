import fc from 'fast-check';
import sanitizeHtml from 'sanitize-html';
import { describe, expect, test } from 'vitest';
import { lostEmbedFinder } from '../../src/inlining/feeds/lost-embeds.ts';
import { readEmbeds } from '../../src/snippets/read-embeds.ts';
import { runs } from '../support/tools/property.ts';

const contents: Record<number, string> = {
  1: '<b>Some words</b> of a snippet',
  2: '<img src="/a.png" alt="">',
  3: '',
  4: 'Ask us.',
  5: '42',
};

/** The ids of snippets that a text has lost, in the order of the page. */
function lostFrom(page: string, ...texts: string[]): number[] {
  const bytes = Buffer.from(page);
  const { embeds } = readEmbeds({ name: 'index.html', bytes, kind: 'html' }, new Map());
  const shown = ({ request }: { request: { id: number } }) => {
    const html = contents[request.id];
    return html === undefined ? undefined : { html, text: html.replace(/<[^>]*>/g, '') };
  };
  return lostEmbedFinder(bytes, embeds, shown)(texts).map(({ request }) => request.id);
}

const embed = (id: number, children = '') => `<snippet-embed id="${id}">${children}</snippet-embed>`;
const pageWith = (post: string) =>
  `<html><head><title>A post</title><style>p { color: red }</style></head><body><nav>Home Posts</nav><h1>A post</h1>
<article>${post}</article><footer>All rights reserved</footer></body></html>`;

const long = 'A paragraph with so many words that a search finds it.';
const post = `<p>${long}</p>\n<p>Prices start at ${embed(1)} a month.</p>\n<p>${long} Twice.</p>`;

describe('an embed is lost from', () => {
  test.for<[what: string, post: string, text: string, lost?: number[]]>([
    ['a text of two words', `<p>Before ${embed(1)} after.</p>`, '<p>Before  after.</p>'],
    ['what a sanitizer leaves', post, sanitizeHtml(post)],
    ['text without tags', post, `${long} Prices start at  a month. ${long}`],
    ['text without spaces for tags', `<p>One</p><p>${embed(1)}</p><p>Two</p>`, 'OneTwo'],
    ['the start of a text, cut in a word', post, `${long} Prices start at  a mon…`],
    ['the end of a text', post, `a month? No: start at a month. ${long} Twice.`.slice(16)],
    ['other punctuation', `<p>It's "${embed(1)}" -- really</p>`, '<p>It’s “” — really</p>'],
    [
      'a text with what was inside',
      `<p>Before ${embed(1, '<i>a price</i>')} after</p>`,
      'Before <i>a price</i> after',
    ],
    ['a text without what was inside', `<p>Before ${embed(1, 'a price')} after</p>`, 'Before  after'],
    ['a text with other capitals and accents', `<p>Né à ${embed(1)} Łódź</p>`, '<p>NÉ À  Łódź</p>'],
    ['a text in Japanese', `<p>料金は${embed(1)}からです</p>`, '<p>料金はからです</p>'],
    ['a text without an image', `<p>${long} ${embed(2)} ${long}</p>`, `<p>${long}  ${long}</p>`],
    ['a text with two', `<p>Start ${embed(1)} and ${embed(5)} end</p>`, '<p>Start  and  end</p>', [1, 5]],
    [
      'a text as another embed is held',
      `<p>Start ${embed(1)} and then ${embed(5)} end</p>`,
      `Start  and then ${embed(5)} end`,
    ],
    ['two embeds side by side', `<p>Start ${embed(1)}${embed(5)} end</p>`, '<p>Start  end</p>', [1, 5]],
    ['text of the page', `<p>Start <snippet-embed id="1" as="text"></snippet-embed> end</p>`, 'Start end'],
  ])('%s', ([, written, text, lost = [written.includes(embed(2)) ? 2 : 1]]) => {
    expect(lostFrom(pageWith(written), text)).toEqual(lost);
  });

  test.for<[what: string, post: string, ...texts: string[]]>([
    ['with the embed', post, post],
    ['with the embed, escaped', post, post.replaceAll('<', '&lt;')],
    ['with the embed in one of its texts', post, sanitizeHtml(post), post],
    ['with the content', post, post.replace(embed(1), contents[1] ?? '')],
    ['with the text of the content', post, post.replace(embed(1), 'Some words of a snippet')],
    [
      'with the content in one of its texts',
      post,
      sanitizeHtml(post),
      post.replace(embed(1), contents[1] ?? ''),
    ],
    ['with other text there', post, post.replace(embed(1), 'five euros')],
    ['with an image', `<p>${long} ${embed(2)} ${long}</p>`, `<p>${long} <img src="/b.png"> ${long}</p>`],
    ['that ends before', post, `${long} Prices start at`],
    ['that ends before, with three dots', post, `<p>${long} Prices start at […]</p>`],
    ['that ends before, with a link', post, `<p>${long} Prices start at</p><p>Read more</p>`],
    ['that begins behind', post, `a month. ${long} Twice.`],
    ['about something else', post, 'A summary that was written by hand.'],
    ['that is empty', post, '', '<p></p>'],
    ['where the snippet is empty', `<p>Before ${embed(3)} after</p>`, 'Before after'],
    [
      'where the snippet is what was inside',
      `<p>Before ${embed(4, 'Ask us.')} after</p>`,
      'Before Ask us. after',
    ],
    [
      'where the page shows what was inside',
      `<p>Before ${embed(9, 'Ask us.')} after</p>`,
      'Before Ask us. after',
    ],
    ['where the embed is in an attribute', `<p>Before <img alt='${embed(1)}'> after</p>`, 'Before after'],
    [
      'where the embed is in a script',
      `<p>Before <script type="application/ld+json">{"a":"${embed(1).replaceAll('"', "'")}"}</script> after</p>`,
      'Before after',
    ],
    [
      'where the embed is in a template',
      `<p>Before <template>${embed(1)}</template> after</p>`,
      'Before after',
    ],
    ['where the embed is an example', `<p>Before <code>${embed(1)}</code> after</p>`, 'Before after'],
  ])('nothing %s', ([, written, ...texts]) => {
    expect(lostFrom(pageWith(written), ...texts)).toEqual([]);
  });

  test.for<[what: string, page: string]>([
    ['above', `<header>News: ${embed(1)}</header><main><p>${long}</p></main>`],
    ['below', `<main><p>${long}</p></main><aside>${embed(1)}</aside><footer>Imprint</footer>`],
    ['around', `${embed(5)}<main>${embed(1)}<p>${long}</p></main>${embed(2)}`],
  ])('a layout: none that is %s the text', ([, page]) => {
    expect(lostFrom(`<body>${page}</body>`, `<p>${long}</p>`)).toEqual([]);
  });

  test('any text that was made without it, and from none that has something there', () => {
    // A word begins with a letter that is in no other place, so that no text repeats another by chance.
    const word = fc.stringMatching(/^[a-m][n-z]{3,8}$/);
    const words = fc.uniqueArray(word, { minLength: 12, maxLength: 40 });
    const tags = fc.constantFrom(' ', '</p>\n<p>', ' <em>and</em> ', '. ', ' &amp; ', '<br>');
    fc.assert(
      fc.property(words, fc.nat(), tags, fc.boolean(), word, (all, at, separator, isStripped, other) => {
        const cut = 1 + (at % (all.length - 1));
        const [before, after] = [all.slice(0, cut), all.slice(cut)].map((part) => part.join(separator));
        const textWith = (between: string) => {
          const html = `<p>${before} ${between} ${after}</p>`;
          return isStripped ? html.replace(/<[^>]*>/g, '') : html;
        };
        const page = pageWith(`<p>${before} ${embed(1)} ${after}</p>`);
        expect(lostFrom(page, textWith(''))).toEqual([1]);
        expect(lostFrom(page, textWith('Some words of a snippet'))).toEqual([]);
        expect(lostFrom(page, `<p>${before}</p>`)).toEqual([]);
        expect(lostFrom(page, `<p>${after}</p>`)).toEqual([]);
        fc.pre(!all.includes(other));
        expect(lostFrom(page, textWith(other))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  test('a long text in linear time', () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `<p>Text ${index} ${embed(1)} more</p>`).join(
      '\n',
    );
    expect(lostFrom(pageWith(many), sanitizeHtml(many))).toHaveLength(2_000);
    expect(lostFrom(pageWith(many), 'Text '.repeat(100_000), '<snippet-embed '.repeat(50_000))).toEqual([]);
  });
});
