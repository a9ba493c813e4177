import { join } from 'node:path';
import type { Rolldown } from 'vite';
import { elementName, embedName } from '../embed/element.ts';
import { type ErrorCode, userError } from '../failures/errors.ts';
import { fileOf, placeIn, type SiteSource, shownSource, withoutComments } from './source-search.ts';

type SyntaxParts = { [Name in 'id' | 'callee' | 'key' | 'property' | 'source']?: SyntaxNode | null };
type SyntaxLists = { [Name in 'arguments' | 'expressions' | 'properties' | 'quasis']?: SyntaxNode[] };

/** A node of Vite's syntax tree (ESTree), with the parts that are read. */
export interface SyntaxNode extends SyntaxParts, SyntaxLists {
  type: string;
  name?: unknown;
  value?: unknown;
}

/** `passes`: to a server island. Astro encrypts it, so no file shows it. `names`: as in `querySelector('snippet-embed')`. */
type MentionKind = 'writes' | 'passes' | 'names' | 'imports';

/** What a module does with the element and the component. */
export type WrittenEmbeds = ReadonlySet<MentionKind>;

// Characters that no source contains stand for the expressions of a template.
const hole = (index: number) => `\ue000${index}\ue001`;
const elementOpening = new RegExp(`<${elementName}(?=[\\s/>\\ue000])`, 'i');
const exampleMarkup =
  /<(code|pre|kbd|samp|[\w-]+(?=\s[^>]*\bdata-snippets-ignore))\b[\s\S]*?(?:<\/\1>|$)|<!--[\s\S]*?(?:-->|$)/gi;
// They create an element of the name they are given.
const elementCreators = /^[_$]*(?:h|element|jsx\w*|create\w*|resolve\w*Component|(?:ssrR|r)enderComponent)$/;
// They search for their first argument, or say it.
const namingFunctions =
  /^(?:includes|\w*ndexOf|\w+With|split|search|match\w*|replace\w*|querySelector\w*|closest|getElementsByTagName|define|get|whenDefined|test|exec|debug|info|log|warn|error|\w*Error)$/;
const codeTagName = /^(?:code|pre|kbd|samp)$/;

/** Whether a module writes the element, or only mentions it. */
export function findWritten(program: SyntaxNode) {
  const found = new Set<MentionKind>();

  /** @param use what it is to write the element here; `undefined` in an example. */
  const visit = (node: SyntaxNode, use: MentionKind | undefined) => {
    const { type, quasis = [node], expressions = [] } = node;
    if (literalText(node.source) === 'astro-snippets/components') found.add('imports');
    // Astro adds the source of a Markdown file to its module. A page shows it as HTML.
    if (type === 'FunctionDeclaration' && node.id?.name === 'rawContent') return;
    if (type === 'Literal' || type === 'TemplateLiteral') {
      const pieces = quasis.map((piece, at) => literalText(piece) + (at in expressions ? hole(at) : ''));
      const text = pieces.join('').replace(exampleMarkup, '');
      if (use && embedName.test(text)) found.add(elementOpening.test(text) ? use : 'names');
      for (const [at, one] of expressions.entries()) visit(one, text.includes(hole(at)) ? use : undefined);
    } else if (type === 'CallExpression' || type === 'NewExpression') visitCall(node, use);
    else for (const part of Object.values(node).flat()) if (typeof part?.type === 'string') visit(part, use);
  };

  const visitCall = ({ callee: called, arguments: given = [] }: SyntaxNode, use: MentionKind | undefined) => {
    // Bundlers write (0, jsx)(…).
    const callee = called?.expressions?.at(-1) ?? called;
    const calleeName = String(callee?.name ?? callee?.property?.name);
    if (called) visit(called, use);
    if (!elementCreators.test(calleeName)) {
      const first = use && namingFunctions.test(calleeName) ? 'names' : use;
      for (const [index, one] of given.entries()) visit(one, index === 0 ? first : use);
      return;
    }
    const created = given.slice(0, 3).map(literalText);
    const keys = given.flatMap(({ properties = [] }) => properties.map(propertyName));
    const isIsland = keys.includes('server:component-directive');
    const isExample = keys.includes('data-snippets-ignore') || created.some((one) => codeTagName.test(one));
    // The component writes nothing here by itself: it does so on a page.
    const isPassed = use === 'passes' && found.has('imports') && created.includes('Snippet');
    if (use && (isPassed || created.some((one) => one.toLowerCase() === elementName))) found.add(use);
    const inside = isExample ? undefined : use && (isIsland ? 'passes' : use);
    for (const one of given) {
      for (const part of (isIsland && one.properties) || [one]) {
        // A fallback is part of the page, and shown until the island arrives.
        visit(part, isIsland && propertyName(part) === 'fallback' ? use : inside);
      }
    }
  };

  visit(program, 'writes');
  return found;
}

function literalText(node?: SyntaxNode | null) {
  const value = node?.value as { cooked?: unknown } | null | undefined;
  const text = value?.cooked ?? value;
  return typeof text === 'string' ? text : '';
}

const propertyName = ({ key }: SyntaxNode) => key?.name ?? literalText(key);

/** The end of a sentence about a module. Without a code, it is a warning. */
type Flaw = [message: string, code?: ErrorCode];

const perhapsOnDemand: Flaw = [
  'mentions an embed, and is part of what renders pages on demand, where it would stay empty. There, fetch the snippet with SnippetClient from astro-snippets/client in the frontmatter of the page.',
];
// By Vite's environments in which nothing replaces an embed.
const flawsByEnvironment: Record<string, [certain: Flaw, perhaps: Flaw]> = {
  client: [
    ['writes <snippet-embed> in the browser, where nothing replaces it.', 'embed-in-browser'],
    ['mentions snippet-embed. An embed that it writes in the browser would stay empty.'],
  ],
  ssr: [
    [
      'is built for pages or server islands that are rendered on demand, and contains an embed.',
      'on-demand-page',
    ],
    perhapsOnDemand,
  ],
};
const inIsland: Flaw = ['passes an embed to a server island, which is rendered on demand.', 'on-demand-page'];

/** Why an environment must not publish a module; `undefined` if it may. */
export function flawOf(found: WrittenEmbeds, id: string, environment: string) {
  const [certain, perhaps] = flawsByEnvironment[environment] ?? [];
  const isWritten = found.has('writes') || (environment === 'ssr' && found.has('imports'));
  const flaw = (isWritten && certain) || (found.has('passes') ? inIsland : undefined);
  // The site cannot change a package, and the text of a raw file may be an example.
  const isOnlyWarned = id.includes('/node_modules/') || /[?&]raw\b/.test(id);
  return (flaw ? isOnlyWarned : found.has('names')) ? perhaps : flaw;
}

/** @throws AstroError that names each module that must not be published. */
export function checkBundle(
  context: Rolldown.PluginContext,
  bundle: Rolldown.OutputBundle,
  modules: ReadonlyMap<string, WrittenEmbeds>,
  source: SiteSource,
  warn: (file: string, message: string) => void,
) {
  const { name: environment } = context.environment;
  const candidates = [...modules].filter(([id, found]) => flawOf(found, id, environment));
  // A bundle copies the code of its modules.
  if (candidates.length === 0) return;
  const chunks = Object.values(bundle).flatMap((chunk) => ('modules' in chunk ? [chunk.modules] : []));
  const entries: string[] = [];
  let firstCode: ErrorCode | undefined;
  for (const [id, found] of candidates) {
    if (!chunks.some((bundled) => /snippet/i.test(bundled[id]?.code ?? ''))) continue;
    const reached = environment === 'ssr' ? reachOf(context, id, source) : 'page';
    const certain = flawOf(found, id, reached ? environment : 'prerender');
    if (!certain) continue;
    const [message, code] = reached === 'perhaps' ? perhapsOnDemand : certain;
    const file = fileOf(id);
    const place = isStore(id) ? 'The store of collections' : placeIn(file, source.folders.root).place;
    if (!code) warn(file, `${place} ${message}`);
    else entries.push(`${place}\n    ${message}\n`);
    firstCode ??= code;
  }
  if (!firstCode) return;
  const files = entries.length === 1 ? 'A file contains' : `${entries.length} files contain`;
  const headline = `${files} embeds where no snippet can be inlined.\n`;
  throw userError(firstCode, [headline, ...entries.sort()].join('\n'));
}

export const isStore = (id: string) => id.endsWith('astro:data-layer-content');

// They import everything, shown on a page or not.
const contentModules =
  /astro:content|astro:asset-imports|content-modules\.mjs|data-layer|[?&]astro(?:Content|PropagatedAssets)/;
// Runs for prerendered pages, too.
const middleware = /(?:virtual:astro:|astro-internal:)middleware/;

/** Whether pages rendered on demand show what a module of the server bundle writes. */
function reachOf(context: Rolldown.PluginContext, id: string, { folders, routes, isMixed }: SiteSource) {
  const onDemand = routes.filter(({ isPrerendered, origin }) => !isPrerendered && origin !== 'internal');
  const pages = new Set(onDemand.map(({ entrypoint }) => fileOf(join(folders.root, entrypoint))));
  const seen = new Set([id]);
  let reached: 'perhaps' | undefined;
  for (const each of seen) {
    const { importers = [], dynamicImporters = [], isEntry = false } = context.getModuleInfo(each) ?? {};
    const importing = [...importers, ...dynamicImporters];
    // Astro bundles pages behind a virtual module, so any other entry is a server island.
    const isPage = pages.has(fileOf(each)) || (isEntry && each.endsWith('.astro'));
    if (middleware.test(each) || (contentModules.test(each) && !isStore(id))) reached = 'perhaps';
    else if (isMixed ? isPage : importing.length === 0) return 'page';
    else for (const importer of importing) seen.add(importer);
  }
  return isMixed && pages.size === 0 ? undefined : reached;
}

const titleWithSnippet =
  /<(title|textarea)\b(?:"[^"]*"|'[^']*'|[^'">])*>(?:(?!<\/\1)[\s\S])*?<(Snippet)[\s/>]/;
const imageWithSnippet = /(!\[)[^\]]*?<(Snippet|snippet-embed)[\s/>]/;

/** Rejects an embed that is never rendered: in an image of MDX or, before Astro 7, a title. */
export function refuseUnrendered(source: string, file: string, root: string, astro: number) {
  const isMdx = file.endsWith('.mdx');
  if (!isMdx && !source.includes('astro-snippets/components')) return;
  const text = withoutComments(source, file);
  const found = (isMdx ? imageWithSnippet : titleWithSnippet).exec(text);
  if (!found) return;
  const [whole, element, name] = found;
  const { length: line } = text.slice(0, found.index + whole.length).split('\n');
  const where = isMdx
    ? 'the text of an image, which is plain text in MDX.'
    : `<${element}>, where Astro ${astro} renders no components.`;
  const message = `${shownSource(file, root)}:${line} contains <${name}> in ${where}`;
  const embed = '<snippet-embed id="42"></snippet-embed>';
  const hint = `Write ${isMdx ? `<img src="…" alt='${embed}' />` : embed} there.`;
  const loc = { file, line, column: 0 };
  throw Object.assign(userError('unrendered-component', message, hint), { loc });
}
