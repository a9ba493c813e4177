import { globSync, statSync } from 'node:fs';
import { extname, join, parse } from 'node:path';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { AskedComponent } from '../embed/component-bridge.ts';
import { userError } from '../failures/errors.ts';
import { listPlaces, type PlaceOf } from '../failures/places.ts';
import { canonicalPath, decodePath } from '../settings/site-urls.ts';
import { count } from '../text/format.ts';
import type { SiteSource } from './site-source.ts';
import { embedsIn, literalRequest, type SourceEmbed } from './source-embeds.ts';
import { fileOf, shownSource } from './source-file.ts';

// What imports these may show any entry of any collection.
const collectionModules = /astro:content|data-layer-content/;

// Others, such as those of a slot, come and go.
const ownProps = ['id', 'of', 'params', 'as', 'optional'];

const imagePattern = /\.(?:png|jpe?g|webp|avif|gif|svg)$/;

export type SourceSearch = ReturnType<typeof sourceSearch>;

/** Finds where embeds are written. Reads sources once an error or a warning needs them. */
export function sourceSearch(source: SiteSource): {
  source: SiteSource;
  whereWritten: PlaceOf;
  /** What pages may ask for, as written in `srcDir`. */
  literalRequests(): SnippetRequest[];
  ofComponent({ id, page, props }: AskedComponent):
    | {
        place: string;
        loc?: never;
      }
    | {
        place: string;
        loc: {
          file: string;
          line: number;
          column: number;
        };
      }
    | undefined;
  /** Warns of embeds in Markdown headings. @param shown the embeds of pages */
  headingWarnings(shown: readonly { inHeading: boolean; request: SnippetRequest }[]): string[];
  /** Warns of embeds in frontmatter where the site draws images. */
  imageWarnings(): string[];
  /** @throws AstroError for a page of `astro dev` that is rendered on demand. */
  refuseOnDemand(page: string): void;
} {
  const { root, srcDir, publicDir } = source.folders;
  const onPage = new Map<string, SourceEmbed[]>();
  let read: SourceEmbed[] | undefined;
  const all = () => {
    read ??= listSources(source).flatMap((file) => embedsIn(file));
    return read;
  };

  const routeOf = (page: string) => {
    const { base, routes } = source;
    const inside = page.slice(page.startsWith(base) ? base.length : 0).replace(/^\//, '');
    const path = decodePath(canonicalPath(`/${inside}`, true, { trailingSlash: 'never', format: 'file' }));
    return routes.find(({ patternRegex }) => patternRegex.test(path) || patternRegex.test(`${path}/`));
  };

  /** Those of the modules behind a page; all, if it is not known. */
  const embedsOn = (page?: string) => {
    const { importsOf } = source;
    const entry = page && routeOf(page)?.entrypoint;
    if (!entry || !importsOf) return all();
    const known = onPage.get(entry);
    if (known) return known;
    const ids = new Set([fileOf(join(root, entry))]);
    for (const id of ids) for (const imported of importsOf(id)) ids.add(imported);
    const files = new Set(ids.values().map(fileOf));
    const isAny = ids.size === 1;
    const showsContent = ids.values().some((id) => collectionModules.test(id));
    const found = all().filter(({ file }) => isAny || files.has(file) || (showsContent && isContent(file)));
    onPage.set(entry, found);
    return found;
  };

  const placesOf = (embeds: SourceEmbed[]) => [
    ...new Set(embeds.map(({ file, line }) => `${shownSource(file, root)}:${line}`)),
  ];

  /** @param page `undefined` for a snippet, which is in all of the places. An embed is in one. */
  const describe = (found: SourceEmbed[], page?: string, isDoubtful = false) => {
    const places = placesOf(found);
    if (places.length === 0) return '';
    const isComputed = found.some(({ id }) => id === undefined);
    const shown = places.slice(0, 3);
    if (places.length > 3) shown.push(count(places.length - 3, 'more place'));
    else if (places.length === 1 && (isComputed || isDoubtful)) shown.push('elsewhere');
    const type = page === undefined && !isComputed && !isDoubtful ? 'conjunction' : 'disjunction';
    return `written in ${new Intl.ListFormat('en-GB', { type }).format(shown)}${isComputed ? ', id computed' : ''}`;
  };

  /** Where an embed, or a snippet on any page, is written; empty if that is not known. */
  const whereWritten: PlaceOf = ({ id, file, line = 1, code, isDoubtful }) => {
    const copied = join(publicDir, file ?? '');
    if (statSync(copied, { throwIfNoEntry: false })?.isFile()) {
      return `written in ${shownSource(copied, root)}:${line}`;
    }
    let embeds = embedsOn(file);
    if (code === 'unrendered-component') {
      embeds = embeds.filter((one) => one.isComponent && isContent(one.file) && !one.file.endsWith('.mdx'));
    } else if (id === undefined) return '';
    return describe(likelyEmbeds(embeds, id, file), file, isDoubtful);
  };

  return {
    source,
    whereWritten,

    /** What pages may ask for, as written in `srcDir`. */
    literalRequests() {
      const inside = all().filter(({ file }) => !shownSource(file, srcDir).startsWith('../'));
      return inside.flatMap((embed) => literalRequest(embed) ?? []);
    },

    ofComponent({ id, page, props }: AskedComponent) {
      const own = props.filter((prop) => ownProps.includes(prop));
      const embeds = embedsOn(page).filter(({ isComponent, attributes }) => {
        const isWritten = (prop: string) => new RegExp(`\\b${prop}\\b`).test(attributes);
        return isComponent && (attributes.includes('...') || own.every(isWritten));
      });
      const found = likelyEmbeds(embeds, id, page);
      const [place, another] = placesOf(found);
      if (!place || !found[0]) return undefined;
      if (another) return { place: describe(found, page ?? '') };
      const { file, line, column } = found[0];
      return { place, loc: { file: shownSource(file, root), line, column } };
    },

    /** Warns of embeds in Markdown headings. @param shown the embeds of pages */
    headingWarnings(shown: readonly { inHeading: boolean; request: SnippetRequest }[]) {
      const ids = new Set(shown.flatMap(({ inHeading, request }) => (inHeading ? String(request.id) : [])));
      if (ids.size === 0) return [];
      const found = all().filter(({ inHeading, id }) => inHeading && (id === undefined || ids.has(id)));
      const flaw =
        'has an embed in a heading. Its slug and its entry in the table of contents are without the snippet: Astro writes them before snippets are fetched. Put the embed into the frontmatter title or below the heading, or write the heading as <h2 id="…">, which has no entry there.';
      return placesOf(found).map((place) => `${place} ${flaw}`);
    },

    /** Warns of embeds in frontmatter where the site draws images. */
    imageWarnings() {
      const drawn = source.routes.find(
        ({ type, pattern }) => type === 'endpoint' && imagePattern.test(pattern),
      );
      const places = drawn ? placesOf(all().filter(({ inFrontmatter }) => inFrontmatter)) : [];
      if (places.length === 0) return [];
      return [
        `${listPlaces(places)}: the frontmatter has an embed, and ${drawn?.pattern} makes images. An image that shows this text shows the tag. Use the text of a collection's entry there (getEntry(…).data.text), or a title without an embed.`,
      ];
    },

    /** @throws AstroError for a page of `astro dev` that is rendered on demand. */
    refuseOnDemand(page: string) {
      const route = routeOf(page);
      if (!route || route.isPrerendered) return;
      const [, island] = page.split('/_server-islands/');
      const [what, found] =
        island === undefined
          ? [`${page} (route ${route.pattern})`, embedsOn(page)]
          : [`The server island ${island}`, all().filter(({ file }) => parse(file).name === island)];
      const message = `${what} is rendered on demand, and contains an embed. Snippets are inlined while the site is built.`;
      throw userError('on-demand-page', [message, ...placesOf(found)].join('\n'));
    },
  };
}

const contentExtensions = 'md,mdx,markdown,mdown,mkdn,mkd,mdwn,htm,html,json,yml,yaml,toml';

const moduleExtensions = 'astro,js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,svelte';

/** May be an entry of a collection, which no module imports. */
const isContent = (file: string) => contentExtensions.split(',').includes(extname(file).slice(1));

/** Files in `srcDir`, loaded ones, and content in the project, but for packages, the output and hidden folders. */
function listSources({ folders: { root, srcDir, publicDir, outDir }, loaded }: SiteSource) {
  const list = (cwd: string, types: string) => {
    const left = [publicDir, outDir].map((path) => `${shownSource(path, cwd)}/**`);
    const found = globSync(`**/*.{${types}}`, { cwd, exclude: ['**/node_modules/**', ...left] });
    return found.map((path) => fileOf(join(cwd, path)));
  };
  const listed = [
    ...list(root, contentExtensions),
    ...list(srcDir, `${contentExtensions},${moduleExtensions}`),
  ].sort();
  return [...new Set([...listed, ...loaded])];
}

/** The embeds that may be the one on a page, or those of a snippet on any page. */
function likelyEmbeds(embeds: SourceEmbed[], id?: string, page?: string) {
  const literal = embeds.filter((one) => one.id !== undefined && one.id.toLowerCase() === id?.toLowerCase());
  const computed = embeds.filter((one) => one.id === undefined);
  if (page === undefined) return literal.length > 0 ? literal : computed;
  // One of them may have the name of the page.
  const isNamed = ({ file }: SourceEmbed) => Number(page.includes(parse(file).name));
  return [...literal.sort((a, b) => isNamed(b) - isNamed(a)), ...computed];
}
