import { escapeAttribute, escapeText } from 'entities/escape';
import fc from 'fast-check';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { SaxesParser } from 'saxes';
import { expect, test } from 'vitest';
import type { FileKind } from '../../src/embed/found-embed.ts';
import { compose, replaceEmbeds } from '../../src/embed/replace-embeds.ts';
import { scan } from '../../src/embed/scan.ts';
import { oneOf, runs } from '../support/tools/property.ts';

/** A way to write a string inside another. Writes and reads without our own code. */
interface Wrapping {
  name: string;
  write(inner: string): string;
  read(outer: string): string;
  /** What the inner string is: HTML, text, or (in JSON and data attributes) either. */
  holds: 'html' | 'text' | 'data';
}

type Element = DefaultTreeAdapterMap['element'];

/** The element that holds the string. */
function here(html: string): Element {
  const all = (node: DefaultTreeAdapterMap['node']): Element[] => [
    ...('attrs' in node ? [node] : []),
    ...('childNodes' in node ? node.childNodes.flatMap(all) : []),
  ];
  const found = all(parse(html)).find(({ attrs }) => attrs.some(({ name }) => name === 'here'));
  if (found === undefined) throw new Error(`Nothing is here: ${html}`);
  return found;
}

const textIn = (html: string) =>
  here(html)
    .childNodes.map((node) => ('value' in node ? node.value : ''))
    .join('');
const attributeIn = (html: string, name: string) =>
  here(html).attrs.find((one) => one.name === name)?.value ?? '';
/** The text and the attribute `a` of the element `here` or `title` in XML. */
function xmlIn(xml: string): { text: string; attribute: string } {
  const found = { text: '', attribute: '' };
  const parser = new SaxesParser();
  let name = '';
  const add = (text: string) => {
    if (name === 'here' || name === 'title') found.text += text;
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    name = tag.name;
    found.attribute ||= String(tag.attributes['a'] ?? '');
  });
  parser.on('closetag', () => {
    name = '';
  });
  parser.on('text', add);
  parser.on('cdata', add);
  parser.write(xml).close();
  return found;
}

const inXml = (element: string) => `<?xml version="1.0"?><r><b>x</b>${element}</r>`;
const references = (pattern: RegExp) => (text: string) =>
  text.replace(pattern, (character) => `&#${character.charCodeAt(0)};`);

const inHtml: Wrapping[] = [
  { name: 'text', holds: 'text', write: (text) => `<p here>${escapeText(text)}</p><i>x</i>`, read: textIn },
  { name: 'title', holds: 'text', write: (text) => `<title here>${escapeText(text)}</title>`, read: textIn },
  {
    name: 'textarea',
    holds: 'text',
    write: (text) => `<textarea here>x${escapeText(text)}</textarea>`,
    read: (html) => textIn(html).slice(1),
  },
  ...[['"', /["&]/g] as const, ["'", /['&<>]/g] as const, ['', /["&'<>=`\s]/g] as const].map(
    ([quote, special]): Wrapping => ({
      name: `attribute ${quote}`,
      holds: 'text',
      write: (text) => `<a here title=${quote}${references(special)(text)}${quote} id=x>x</a>`,
      read: (html) => attributeIn(html, 'title'),
    }),
  ),
  {
    name: 'data attribute',
    holds: 'data',
    write: (text) => `<a data-x="${escapeAttribute(text)}" here>x</a>`,
    read: (html) => attributeIn(html, 'data-x'),
  },
  {
    name: 'srcdoc',
    holds: 'html',
    write: (text) => `<iframe here srcdoc='${references(/['&]/g)(text)}'></iframe>`,
    read: (html) => attributeIn(html, 'srcdoc'),
  },
  {
    name: 'props',
    holds: 'data',
    write: (text) =>
      `<astro-island here props="${escapeAttribute(JSON.stringify({ a: [0, text] }))}"></astro-island>`,
    read: (html) => JSON.parse(attributeIn(html, 'props')).a[1],
  },
  {
    name: 'JSON-LD',
    holds: 'data',
    write: (text) =>
      `<script here type="application/ld+json">${JSON.stringify({ a: text }).replaceAll('</', '\\u003c/')}</script>`,
    read: (html) => JSON.parse(textIn(html)).a,
  },
  {
    name: 'URL',
    holds: 'text',
    write: (text) => `<a here href="/?a&amp;t=${escapeAttribute(encodeURIComponent(text))}">x</a>`,
    read: (html) => decodeURIComponent(attributeIn(html, 'href').replace(/.*?t=/s, '')),
  },
];

const xml: Wrapping[] = [
  {
    name: 'XML text',
    holds: 'html',
    write: (text) => inXml(`<here>${references(/[&<>]/g)(text)}</here>`),
    read: (text) => xmlIn(text).text,
  },
  {
    name: 'CDATA',
    holds: 'html',
    write: (text) => inXml(`<here><![CDATA[${text.replaceAll(']]>', ']]]]><![CDATA[>')}]]></here>`),
    read: (text) => xmlIn(text).text,
  },
  {
    name: 'XML title',
    holds: 'text',
    write: (text) => inXml(`<title>${references(/[&<>]/g)(text)}</title>`),
    read: (text) => xmlIn(text).text,
  },
  {
    name: 'XML attribute',
    holds: 'text',
    write: (text) => inXml(`<here a='${references(/[&<>'\s]/g)(text)}'/>`),
    read: (text) => xmlIn(text).attribute,
  },
];

const json: Wrapping[] = [
  {
    name: 'JSON',
    holds: 'data',
    write: (text) => JSON.stringify({ x: 'y\\', a: text }),
    read: (text) => JSON.parse(text).a,
  },
  {
    name: 'ASCII JSON',
    holds: 'data',
    write: (text) =>
      JSON.stringify([text, 1]).replace(
        /[<>&\u0080-\uffff]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    read: (text) => JSON.parse(text)[0],
  },
];

const inside: Record<Wrapping['holds'], Wrapping[]> = {
  html: inHtml,
  data: [...inHtml, ...xml, ...json],
  // Nothing is wrapped in text, such as a title that is escaped twice.
  text: [],
};
const atRoot: Record<FileKind, Wrapping[]> = { html: inHtml, xml, json, text: inHtml, other: [] };

/** A kind of file with up to three wrappings, outermost first. */
const spelling = fc.constantFrom<FileKind>('html', 'xml', 'json', 'text').chain((kind) => {
  const deeper = (choice: Wrapping[], depth: number): fc.Arbitrary<Wrapping[]> =>
    choice.length === 0
      ? fc.constant([])
      : fc
          .constantFrom(...choice)
          .chain((first) =>
            depth === 1
              ? fc.constant([first])
              : fc
                  .boolean()
                  .chain((more) =>
                    more
                      ? deeper(inside[first.holds], depth - 1).map((rest) => [first, ...rest])
                      : fc.constant([first]),
                  ),
          );
  return fc.tuple(fc.constant(kind), deeper(atRoot[kind], 3));
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids these.
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

const nasty = oneOf(
  `" ' < > & &lt; ]]> ] ]] </script> <!-- --> <script> </title> $& $1 \\ \\u003c % %3C + = 💡 </a> <p> a {"a":1} &amp;
  &#0; 日本語 <div>x</div>`,
  // Each of these code units, lone surrogates included.
  ...'` \n\r\t\u00a0\u2028\u2029\ud83d\0\x01\x0b\f\udca1\x7f\x85\ufeff\uffff',
  '<snippet-embed id="9"></snippet-embed>',
);
const anything = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'binary' })), { maxLength: 8 })
  .map((parts) => parts.join(''));

const around = fc.constantFrom('', 'q ', 'ü 💡 ', '"', "it's ", '5 > 6 ', ']', ']]', '>');
const as = fc.constantFrom(undefined, undefined, 'html' as const, 'text' as const);

test('any content in any place is read back unchanged, and every other byte stays', () => {
  fc.assert(
    fc.property(
      spelling,
      fc.record({ html: anything, text: anything }),
      fc.record({ before: around, after: around, isTagged: fc.boolean(), params: anything, as }),
      ([kind, wrappings], content, { before, after, isTagged, params, as }) => {
        const asked = as === undefined ? '' : ` as="${as}"`;
        // Without characters that neither XML nor HTML can hold, embeds in embeds, and backticks, which Markdown would
        // read as code in an escaped embed.
        const given = params
          .toWellFormed()
          .replace(forbidden, '')
          .replace(/[\r`]|snippet-embed/g, '');
        const embed = `<snippet-embed id="7" params="${escapeAttribute(given)}"${asked}></snippet-embed>`;
        const holds = wrappings.at(-1)?.holds ?? 'html';
        const tags = isTagged && holds !== 'text' ? ['<b>x</b> ', ' <i>y</i>'] : ['', ''];
        const surround = (middle: string) => `${before}${tags[0]}${middle}${tags[1]}${after}`;
        const file = Buffer.from(wrappings.reduceRight((inner, { write }) => write(inner), surround(embed)));

        const found = scan(file, kind);
        expect({ ...found, embeds: found.embeds.length }).toEqual({ embeds: 1, faults: [], warnings: [] });
        const [one] = found.embeds;
        if (one === undefined) return;
        expect(one.attributes).toEqual({ id: '7', params: given, as });

        const shows = holds === 'text' ? 'text' : (as ?? shownIn(wrappings));
        expect(one.format.as).toBe(shows);
        const after_ = replaceEmbeds(file, found.embeds, ({ format }) => compose(content, format));
        const head = file.subarray(0, one.start);
        const tail = file.subarray(one.end);
        expect(after_.subarray(0, head.length)).toEqual(head);
        expect(after_.subarray(after_.length - tail.length)).toEqual(tail);
        expect(compose(content, one.format).text).toEqual(
          after_.toString('latin1', head.length, after_.length - tail.length),
        );

        const read = wrappings.reduce((outer, wrapping) => wrapping.read(outer), after_.toString());
        const isEscaped = shows === 'text' && (holds === 'html' || (holds === 'data' && isTagged));
        const possible = keep(content[shows].toWellFormed(), one.format.layers);
        const expected = surround(isEscaped ? escapeText(possible).replaceAll('\r', '&#13;') : possible);
        // XML forbids form feeds, but they pass through where HTML inside it escapes white space.
        expect(read.replaceAll('\f', '\ufffd')).toBe(expected.replaceAll('\f', '\ufffd'));
      },
    ),
    { numRuns: runs(2_000) },
  );
});

/** What an embed without `as` shows: text in the data of a page, HTML in the data of other files. */
function shownIn(wrappings: readonly Wrapping[]): 'html' | 'text' {
  const [last, ...rest] = wrappings.toReversed();
  if (last === undefined || last.holds === 'html') return 'html';
  return inHtml.includes(last) ? 'text' : shownIn(rest.toReversed());
}

/** The text without the characters that HTML or XML cannot hold unescaped. */
function keep(text: string, layers: readonly string[]): string {
  let kept = text;
  let lost = forbidden;
  for (const layer of layers.toReversed()) {
    if (layer.startsWith('url')) return kept;
    if (layer.startsWith('json')) lost = /[\ufffe\uffff]/g;
    else if (layer.startsWith('html')) kept = lost === forbidden ? kept.replaceAll('\0', '\ufffd') : kept;
    else kept = kept.replace(lost, '\ufffd');
  }
  return kept;
}

test.for([1, 2, 3, 4, 5, 9])('text that is encoded %i times over is either scanned or warned of', (times) => {
  let value = '<snippet-embed id="1"></snippet-embed>';
  // Each time adds two layers: JSON, and percent-encoding.
  for (let time = 0; time < times; time += 1) value = encodeURIComponent(JSON.stringify({ value }));
  const { embeds, faults, warnings } = scan(Buffer.from(`<i data-value="${value}"></i>`), 'html');
  expect(faults).toEqual([]);
  expect(embeds.length + warnings.filter(({ flaw }) => flaw === 'too-deep').length).toBe(1);
});
