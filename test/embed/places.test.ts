import { escapeText } from 'entities/escape';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import type { FileKind } from '../../src/embed/found-embed.ts';
import { type PlaceKind, places } from '../../src/embed/places.ts';
import { compose, replaceEmbeds } from '../../src/embed/replace-embeds.ts';
import { scan } from '../../src/embed/scan.ts';
import { runs } from '../support/tools/property.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';
const escapedEmbed = escapeText(embed).replaceAll('"', '&quot;');
const inAttribute = embed.replaceAll('"', '&quot;');

/** A file with an embed at one kind of place, and how a parser that is not ours reads what is there. */
interface Example {
  kind: FileKind;
  file: string;
  /** Reads what is shown; absent where an embed is refused. */
  read?: ((file: string) => string | undefined) | undefined;
}

type ParsedNode = DefaultTreeAdapterMap['node'];

/** The element with the attribute `here`, also in a template. */
function here(html: string): DefaultTreeAdapterMap['element'] {
  const stack: ParsedNode[] = [parse(html)];
  for (let node = stack.pop(); node; node = stack.pop()) {
    if ('attrs' in node && node.attrs.some(({ name }) => name === 'here')) return node;
    if ('childNodes' in node) stack.push(...node.childNodes);
    if ('content' in node) stack.push(node.content);
  }
  throw new Error(`Nothing is here: ${html}`);
}

const textOfNode = (node: ParsedNode): string => {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOfNode).join('') : '';
};
const textHere = (html: string) => textOfNode(here(html));
const attributeHere = (name: string) => (html: string) =>
  here(html).attrs.find((attribute) => attribute.name === name)?.value;

/** The text of the element `here`, `title` or `link` of XML. */
function xmlText(xml: string): string {
  let text = '';
  let isHere = false;
  const add = (part: string) => {
    if (isHere) text += part;
  };
  const parser = new SaxesParser();
  parser.on('opentag', ({ name }) => {
    isHere ||= /^(?:here|title|link)$/.test(name);
  });
  parser.on('closetag', ({ name }) => {
    if (/^(?:here|title|link)$/.test(name)) isHere = false;
  });
  parser.on('text', add);
  parser.on('cdata', add);
  parser.write(xml).close();
  expect(textByOtherParser(xml)).toBe(text);
  return text;
}

const otherParser = new XMLParser({ trimValues: false, parseTagValue: false, htmlEntities: true });

/** The text of the only element in the feed, as another parser of XML reads it. */
function textByOtherParser(xml: string): unknown {
  const { feed } = otherParser.parse(xml);
  const [element] = Object.values(feed);
  return element;
}

const htmlText = (html: string) => textHere(`<div here>${html}</div>`);
const xml = (element: string) => `<?xml version="1.0"?><feed>${element}</feed>`;
const json = JSON.stringify({ a: embed });
const page = (file: string, read: Example['read'] = textHere): Example => ({ kind: 'html', file, read });
const refused = (kind: FileKind, ...files: string[]): Example[] => files.map((file) => ({ kind, file }));

const examples: Record<PlaceKind, Example[]> = {
  element: [
    page(`<p here>${embed}</p>`),
    page(`<template><p here>${embed}</p></template>`),
    page(`<svg><foreignObject><p here>${embed}</p></foreignObject></svg>`),
    page(`<iframe here srcdoc="${inAttribute}"></iframe>`, (html) =>
      htmlText(attributeHere('srcdoc')(html) ?? ''),
    ),
  ],
  textElement: [
    page(`<title here>${embed}</title>`),
    page(`<textarea here>x${embed}</textarea>`, (html) => textHere(html).slice(1)),
    page(`<svg><text here>${embed}</text></svg>`),
    page(`<svg><title here>${embed}</title></svg>`),
    page(`<select><option here>${embed}</option></select>`),
    page(`<math><mtext here>${embed}</mtext></math>`),
  ],
  escaped: [page(`<h1 here>${escapedEmbed}</h1>`)],
  attribute: [
    page(`<img here alt="${inAttribute}">`, attributeHere('alt')),
    page(`<img here alt=${escapedEmbed.replaceAll(' ', '&#32;')}>`, attributeHere('alt')),
    page(`<meta here content='${embed}'>`, attributeHere('content')),
  ],
  data: [
    page(`<i here data-a='${embed}'></i>`, attributeHere('data-a')),
    page(`<i here data-a='${json}'></i>`, (html) => JSON.parse(attributeHere('data-a')(html) ?? '').a),
    page(
      `<i here data-a="${encodeURIComponent(json)}"></i>`,
      (html) => JSON.parse(decodeURIComponent(attributeHere('data-a')(html) ?? '')).a,
    ),
    page(
      `<i here data-a="${encodeURI(json)}"></i>`,
      (html) => JSON.parse(decodeURIComponent(attributeHere('data-a')(html) ?? '')).a,
    ),
    page(`<a here href="/?q=${encodeURIComponent(json)}&amp;u=1"></a>`, (html) => {
      const url = new URL(attributeHere('href')(html) ?? '', 'https://site.test');
      expect(url.searchParams.get('u')).toBe('1');
      return JSON.parse(url.searchParams.get('q') ?? '').a;
    }),
    page(`<p here hidden>${escapeText(json)}</p>`, (html) => JSON.parse(textHere(html)).a),
    page(`<i here data-a="${encodeURIComponent(`<p>${embed}</p>`)}"></i>`, (html) =>
      htmlText(decodeURIComponent(attributeHere('data-a')(html) ?? '')),
    ),
  ],
  url: [
    page(`<a here href="${inAttribute}"></a>`, attributeHere('href')),
    page(`<a here href="${encodeURIComponent(embed)}"></a>`, attributeHere('href')),
    page(`<a here href=${encodeURIComponent(embed)}></a>`, attributeHere('href')),
    page(`<button here formaction='${embed}'></button>`, attributeHere('formaction')),
    page(`<object here data='${embed}'></object>`, attributeHere('data')),
    page(`<img here srcset='${embed} 2x'>`, (html) => attributeHere('srcset')(html)?.replace(/ 2x$/, '')),
    page(`<meta here http-equiv="Refresh" content='5; URL=${embed}'>`, (html) =>
      attributeHere('content')(html)?.replace('5; URL=', ''),
    ),
  ],
  urlPart: [
    ...[embed.replaceAll('"', "'"), encodeURIComponent(embed)].map((written) =>
      page(`<a here href="/a?text=${written}&amp;u=1"></a>`, (html) => {
        const url = new URL(attributeHere('href')(html) ?? '', 'https://site.test');
        expect(url.searchParams.get('u')).toBe('1');
        return url.searchParams.get('text') ?? '';
      }),
    ),
    page(`<form here action='/search/${embed}/x'></form>`, (html) => {
      const { pathname } = new URL(attributeHere('action')(html) ?? '', 'https://site.test');
      return decodeURIComponent(pathname.replace(/^\/search\/|\/x$/g, ''));
    }),
    page(`<a here href='/a#${embed}'></a>`, (html) =>
      decodeURIComponent(new URL(attributeHere('href')(html) ?? '', 'https://site.test').hash.slice(1)),
    ),
  ],
  jsonScript: [
    page(`<script here type="application/ld+json">${json}</script>`, (html) => JSON.parse(textHere(html)).a),
    page(
      `<script here type="application/ld+json; charset=utf-8">${json}</script>`,
      (html) => JSON.parse(textHere(html)).a,
    ),
  ],
  templateScript: ['text/x-template', 'text/html', 'text/x-handlebars-template', 'text/markdown'].map(
    (type) =>
      page(`<script here type="${type}"><p>${embed}</p></script>`, (html) => htmlText(textHere(html))),
  ),
  xmlText: [
    { kind: 'xml', file: xml(`<here>${escapedEmbed}</here>`), read: (text) => htmlText(xmlText(text)) },
    { kind: 'xml', file: xml(`<here><![CDATA[${embed}]]></here>`), read: (text) => htmlText(xmlText(text)) },
  ],
  xmlTitle: [
    { kind: 'xml', file: xml(`<title>${escapedEmbed}</title>`), read: xmlText },
    { kind: 'xml', file: xml(`<title type="text"><![CDATA[${embed}]]></title>`), read: xmlText },
  ],
  htmlTitle: [
    {
      kind: 'xml',
      file: xml(`<title type="html">${escapedEmbed}</title>`),
      read: (text) => htmlText(xmlText(text)),
    },
    {
      kind: 'xml',
      file: xml(`<title type='html'>${embed}</title>`),
      read: (text) => htmlText(xmlText(text)),
    },
  ],
  xmlUrl: [{ kind: 'xml', file: xml(`<link>${escapedEmbed}</link>`), read: xmlText }],
  xmlElement: [
    { kind: 'xml', file: xml(`<title>${embed}</title>`), read: xmlText },
    { kind: 'xml', file: xml(`<here>${embed}</here>`), read: xmlText },
  ],
  json: [{ kind: 'json', file: json, read: (text) => htmlText(JSON.parse(text).a) }],
  prose: [{ kind: 'text', file: `Hours: ${embed}`, read: (text) => htmlText(text.replace('Hours: ', '')) }],
  code: refused(
    'html',
    ...['text/javascript', 'module', 'importmap', 'speculationrules', 'text/babel'].map(
      (type) => `<script type="${type}">${embed}</script>`,
    ),
    ...`onclick style x-text v-html @click :class hx-on:click data-hx-on--load data-on-click data-on:click ng-click
    data-ng-bind wire:click _ (click) [title] *ngIf data-bind`
      .split(/\s+/)
      .map((name) => `<i ${name}='${embed}'></i>`),
    `<i hx-vals='js:{a: "${inAttribute}"}'></i>`,
    `<style>a::before { content: '${embed}' }</style>`,
  ),
  otherFormat: refused(
    'other',
    `title: ${embed} # daily`,
    `a,"${embed.replaceAll('"', '""')}"`,
    `DESCRIPTION:Open <snippet-emb\r\n ed id="1"></snippet-emb\r\n ed>`,
    `msgstr "${embed.replaceAll('"', '\\"')}"`,
    'title = %3Csnippet-embed%20id%3D%221%22%3E',
  ),
};

const special = fc
  .array(fc.constantFrom(...'"\'<>&\\%#:,;\n =+?/a$`|]'), { minLength: 1, maxLength: 12 })
  .map((characters) => characters.join(''));

describe('any content is read back unchanged', () => {
  const shown = Object.entries(examples).flatMap(([place, list]) =>
    list.flatMap((example) =>
      example.read ? [{ place: place as PlaceKind, ...example, read: example.read }] : [],
    ),
  );
  test.for(shown)('$place: $file', ({ place, kind, file, read }) => {
    const bytes = Buffer.from(file);
    fc.assert(
      fc.property(special, (text) => {
        const { embeds, faults } = scan(bytes, kind);
        expect([embeds.length, faults]).toEqual([1, []]);
        expect(embeds[0]?.format.as).toBe(places[place].shows);
        const url = `https://x.test/?${text.replaceAll(/\s/g, '')}`;
        const content = { html: `<b>${escapeText(text)}</b>`, text, url };
        const written = replaceEmbeds(bytes, embeds, ({ format }) => compose(content, format)).toString();
        expect(read(written)).toBe(places[place].shows === 'url' ? url : text);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('an embed is refused', () => {
  const refusals = [...examples.code, ...examples.otherFormat];
  test.for(refusals)('$file', ({ kind, file }) => {
    const { embeds, faults } = scan(Buffer.from(file), kind);
    expect(embeds).toEqual([]);
    expect(faults.length).toBeGreaterThan(0);
  });
});

test.for(['{"a":"@"}', '<!doctype html><p>@', '<?xml version="1.0"?><a>@</a>'])(
  'a file with an unknown extension is read by what it holds: %s',
  (file) => {
    const { embeds, faults } = scan(Buffer.from(file.replace('@', embed.replaceAll('"', "'"))), 'other');
    expect([embeds.length, faults]).toEqual([1, []]);
  },
);
