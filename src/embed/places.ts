import type { EmbedAs } from './element.ts';
import type { ShownAs } from './found-embed.ts';

/** A kind of place where an embed may stand, and what becomes of the embed there. */
export interface Place {
  /** The place as the documentation names it, in Markdown. */
  readonly where: string;
  /** What an embed without `as` shows; `nothing` where an embed fails the build. */
  readonly shows: ShownAs | 'nothing';
  /** How the content is encoded, as the documentation says it. In the code, these are the layers of a slice. */
  readonly encoding: string;
}

/** The kinds of places, each with a row in the table. */
export type PlaceKind =
  | 'element'
  | 'textElement'
  | 'escaped'
  | 'attribute'
  | 'data'
  | 'url'
  | 'urlPart'
  | 'jsonScript'
  | 'templateScript'
  | 'xmlText'
  | 'xmlTitle'
  | 'htmlTitle'
  | 'xmlUrl'
  | 'xmlElement'
  | 'json'
  | 'prose'
  | 'code'
  | 'otherFormat';

/**
 * What each kind of place can hold. Places can be inside each other, such as a URL in a string of JSON in an
 * attribute: the innermost says what is shown, and all of their encodings apply. The table in docs/embeds.md is
 * made from this one.
 */
export const places: Readonly<Record<PlaceKind, Place>> = {
  element: {
    where: 'among the elements of a page, in `<template>` and in `srcdoc`',
    shows: 'html',
    encoding: '',
  },
  textElement: {
    where: '`<title>`, `<textarea>`, `<option>`, MathML, and SVG outside of `<foreignObject>`',
    shows: 'text',
    encoding: 'escaped',
  },
  escaped: {
    where: 'HTML that is escaped, such as the `{title}` of frontmatter in `<h1>`',
    shows: 'text',
    encoding: 'escaped',
  },
  attribute: { where: 'attributes such as `alt` and `content`', shows: 'text', encoding: 'escaped' },
  data: {
    where: "data attributes, JSON in attributes, and an island's props",
    shows: 'text',
    encoding: 'escaped, as JSON or HTML if it is in one',
  },
  url: {
    where: 'a whole URL: `href`, `src`, `srcset`, `action`, a `refresh` and the like',
    shows: 'url',
    encoding: 'escaped',
  },
  urlPart: { where: 'part of a URL', shows: 'text', encoding: 'percent-encoded' },
  jsonScript: { where: 'JSON-LD and other JSON in scripts', shows: 'text', encoding: 'as JSON' },
  templateScript: {
    where: 'scripts that hold a template, such as `text/x-template`',
    shows: 'html',
    encoding: '',
  },
  xmlText: {
    where: 'feeds and other XML, escaped or in CDATA',
    shows: 'html',
    encoding: 'escaped, or split',
  },
  xmlTitle: { where: '`<title>` and SVG in XML', shows: 'text', encoding: 'escaped' },
  htmlTitle: { where: '`<title type="html">` in Atom', shows: 'text', encoding: 'escaped twice' },
  xmlUrl: { where: '`<link>`, `<guid>` and `<loc>` in XML', shows: 'url', encoding: 'escaped' },
  xmlElement: { where: 'XML, as an element', shows: 'text', encoding: 'escaped, with a warning' },
  json: { where: 'JSON files', shows: 'html', encoding: 'as JSON' },
  prose: { where: 'text files: `.txt`, `.md`, `.mdx`', shows: 'html', encoding: '' },
  code: {
    where: 'scripts, styles, and attributes that run as code: `on…`, `style`, `x-…`, `v-…`, `hx-on…`',
    shows: 'nothing',
    encoding: '',
  },
  otherFormat: {
    where: 'files of any other format: CSV, YAML, TOML, calendars, GraphQL',
    shows: 'nothing',
    encoding: '',
  },
};

/** What an embed without `as` shows at a kind of place, as the attribute `as` says it. */
export const defaultAsIn = (kind: PlaceKind): EmbedAs => (places[kind].shows === 'html' ? 'html' : 'text');
