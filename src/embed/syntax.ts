/** Matches the names of attributes whose values run as code, by what runs them. */
const codeAttributes: readonly RegExp[] = [
  /^on/, // HTML, and AMP
  /^style$/,
  /^(?:x-|@|:)/, // Alpine.js, Vue
  /^v-/, // Vue
  /^(?:data-)?hx-(?:on|vars)/, // htmx
  /^data-(?:on|computed|effect)(?:[-:]|$)/, // Datastar
  /^(?:data-|x-)?ng-|^[([*]/, // Angular, and its older versions
  /^wire:/, // Livewire
  /^(?:_|script|data-script)$/, // hyperscript
  /^data-bind$/, // Knockout
];

/** Matches the names of attributes whose values may be code, and how such a value begins. */
const scriptableAttributes = /^(?:data-)?hx-(?:vals|headers|request|trigger)$/;
const scriptValue = /^\s*(?:js|javascript):/i;

/**
 * Whether a URL runs a script. Its scheme alone is parsed: content put into the rest could make the rest valid. A parser
 * knows what browsers skip, such as a line break in `java&NewLine;script:`.
 */
export function runsAsUrl(url: string): boolean {
  const scheme = url.slice(0, url.indexOf(':') + 1);
  return scheme !== '' && URL.parse(scheme)?.protocol === 'javascript:';
}

/** Whether the value of an attribute runs as code. Both are as a browser reads them: the name in lower case. */
export const isCodeAttribute = (name: string, value: string): boolean =>
  codeAttributes.some((pattern) => pattern.test(name)) ||
  (scriptableAttributes.test(name) && scriptValue.test(value)) ||
  runsAsUrl(value);

/** The attributes in which copy buttons keep code, so embeds in them are examples. */
export const exampleAttributes: ReadonlySet<string> = new Set(['data-code', 'data-clipboard-text']);

/** How the value of an attribute holds URLs: one, several with a comma or a space between, or behind a number. */
export type UrlSyntax = 'url' | 'list' | 'refresh';

const urlAttributes: ReadonlyMap<string, UrlSyntax> = new Map([
  ...[
    'href',
    'src',
    'action',
    'formaction',
    'cite',
    'poster',
    'background',
    'longdesc',
    'manifest',
    'xlink:href',
  ].map((name) => [name, 'url'] as const),
  ...['srcset', 'imagesrcset', 'ping'].map((name) => [name, 'list'] as const),
]);

/**
 * Tells how the value of an attribute holds URLs; `undefined` if it holds none.
 *
 * @param isRefresh whether the tag has `http-equiv="refresh"`: asked for a `<meta>` only
 */
export function urlSyntaxOf(element: string, name: string, isRefresh: () => boolean): UrlSyntax | undefined {
  if (name === 'data' && element === 'object') return 'url';
  if (name === 'content' && element === 'meta' && isRefresh()) return 'refresh';
  return urlAttributes.get(name);
}

/** What the text of a script is, by its `type`. */
export type ScriptSyntax = 'code' | 'json' | 'template' | 'unknown';

const runningTypes =
  /^(?:|module|importmap|speculationrules|(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:javascript1\.[0-5]|jscript|livescript))$/;

/** Whether a browser runs scripts of this `type` (WHATWG MIME Sniffing). A script of any other type is data. */
export const isRunningType = (type = ''): boolean => runningTypes.test(type.trim().toLowerCase());

const jsonScripts = /[/+]json$/;
const templateScripts = /^text\/html$|template|handlebars|mustache|tmpl|jsrender|liquid|markdown/;

/** Tells what the text of a script is. @param type the attribute `type`, which may have parameters */
export function scriptSyntaxOf(type = ''): ScriptSyntax {
  const essence = type.split(';', 1).join().trim().toLowerCase();
  if (isRunningType(essence)) return 'code';
  if (jsonScripts.test(essence)) return 'json';
  return templateScripts.test(essence) ? 'template' : 'unknown';
}

/** What the text of an element of XML is. Any other element holds HTML. */
export type XmlSyntax = 'title' | 'html-title' | 'url';

const xmlTitles = /(?:^|:)(?:title|svg)$/;
const xmlUrls = /^(?:link|guid|loc|url|comments|docs|icon|logo|uri|(?:image|video):\w*loc)$/;

/** Tells what the text of an element of XML is. @param type the attribute `type` */
export function xmlSyntaxOf(element: string, type: string | undefined): XmlSyntax | undefined {
  if (xmlUrls.test(element)) return 'url';
  if (!xmlTitles.test(element)) return undefined;
  return type === 'html' ? 'html-title' : 'title';
}
