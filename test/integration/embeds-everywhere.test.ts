import { XMLParser } from 'fast-xml-parser';
import {
  type DefaultTreeAdapterTypes,
  parse,
  parseFragment,
  serialize,
  defaultTreeAdapter as tree,
} from 'parse5';
import { describe, expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { everyPlace, shown } from '../support/site/every-place.ts';
import { astroVersion } from '../support/site/installation.ts';

const { html, text } = shown;
const title = `Sale by ${text}`;
const { site, output } = await builtSite({ 1: html }, everyPlace);

type Element = DefaultTreeAdapterTypes.Element;

function* elementsIn(node: DefaultTreeAdapterTypes.Node): Generator<Element> {
  if (tree.isElementNode(node)) yield node;
  for (const child of 'childNodes' in node ? node.childNodes : []) yield* elementsIn(child);
}

const attributeOf = (element: Element, name: string) =>
  element.attrs.find((attribute) => attribute.name === name)?.value ?? null;

function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if (tree.isTextNode(node)) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

async function expectPage(): Promise<void> {
  const elements = [...elementsIn(parse(await site.read('index.html')))];
  const find = (id: string): Element => {
    const found = elements.find((element) => attributeOf(element, 'id') === id);
    if (found === undefined) throw new Error(`There is no element ${id}.`);
    return found;
  };
  const attribute = (id: string, name: string) => attributeOf(find(id), name) ?? '';
  const parsed = (fragment: string) => serialize(parseFragment(fragment));
  for (const id of ['title', 'heading', 'island']) expect(textOf(find(id)), id).toBe(title);
  for (const [id, name] of [
    ['description', 'content'],
    ['image', 'alt'],
    ['menu', 'aria-label'],
    ['island', 'title'],
    ['data', 'data-title'],
  ] as const) {
    expect(attribute(id, name), id).toBe(title);
  }
  expect(attribute('data', 'data-rich')).toBe(html);
  expect(attribute('frame', 'srcdoc')).toBe(`<p>Sale by ${html}</p>`);
  expect(serialize(find('body')).trim()).toBe(parsed(`<p>Body ${html} and ${html} end.</p>`));
  expect(serialize(find('upper'))).toBe(parsed(html));
  const { searchParams } = new URL(attribute('share', 'href'));
  expect(Object.fromEntries(searchParams)).toEqual({ text: title, via: 'site' });
  expect(JSON.parse(textOf(find('schema')))).toMatchObject({ headline: title });
  const props = elements
    .filter(({ tagName }) => tagName === 'astro-island')
    .map((element) => JSON.parse(attributeOf(element, 'props') ?? ''));
  expect(props).toEqual([{ title: [0, title] }, { html: [0, html] }]);
}

const xml = new XMLParser({ ignoreAttributes: false, trimValues: false, attributeNamePrefix: '@' });

/** The post's body as Astro's Markdown renders it. */
const body = `<p>Body ${html} and ${html} end.</p>${astroVersion < 7 ? '' : '\n'}`;

async function expectFeeds(): Promise<void> {
  const [fromBody, rendered] = xml.parse(await site.read('rss.xml')).rss.channel.item;
  expect(fromBody.title).toBe(title);
  expect(textOf(parseFragment(fromBody['content:encoded']))).toBe(`Body ${text} and ${text} end.\n`);
  expect(rendered['content:encoded']).toBe(body);

  const { item } = xml.parse(await site.read('cdata.xml')).rss.channel;
  expect(item).toMatchObject({ title, description: body });

  const { entry } = xml.parse(await site.read('atom.xml')).feed;
  expect(entry).toMatchObject({ title, 'news:title': title, link: { '@title': title } });
  expect(new URL(entry.link['@href']).searchParams.get('t')).toBe(title);
  expect(entry.content['#text']).toBe(body);
}

async function expectData(): Promise<void> {
  const title = `Sale by ${html}`;
  expect(JSON.parse(await site.read('posts.json'))).toEqual({ title, text, html: body });
  const search = await site.read('search.json');
  expect(search).not.toContain('<');
  expect(JSON.parse(search)).toEqual([{ title, nested: JSON.stringify({ title }) }]);
  expect(JSON.parse(await site.read('site.webmanifest')).name).toBe(`Shop of ${text}`);
  expect(await site.read('llms.txt')).toBe(`# ${title}\n\n> ${text}\n`);
}

describe('an embed in a frontmatter title and in a body shows its snippet', () => {
  test('everywhere in a page', expectPage);
  test('in feeds', expectFeeds);
  test('in JSON, a web app manifest and text files', expectData);

  test('without a warning, and no embed is left in the output', async () => {
    expect(output).not.toContain('[WARN] [astro-snippets]');
    for (const name of await site.list()) expect(await site.read(name), name).not.toMatch(/snippet-embed/i);
  });
});
