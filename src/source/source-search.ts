import { globSync, statSync } from 'node:fs';
import { extname, join, parse } from 'node:path';
import type { IntegrationResolvedRoute } from 'astro';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { count } from '../client/text.ts';
import type { AskedComponent, ComponentPlace } from '../embed/element.ts';
import { type PlaceOf, userError } from '../failures/errors.ts';
import { canonicalPath, decodePath } from '../settings/site-urls.ts';
import { embedsIn, fileOf, literalRequest, type SourceEmbed, shownSource } from './source-embeds.ts';

export interface SiteSource {
  folders: Record<'root' | 'srcDir' | 'publicDir' | 'outDir', string>;
  base: string;
  routes: readonly IntegrationResolvedRoute[];
  /** The files that mention embeds, of those that Vite has loaded. They may be outside the project. */
  loaded: Set<string>;
  /** Whether the server bundle also has the prerendered pages, as in Astro 5. */
  isMixed?: boolean;
  importsOf?: (id: string) => Iterable<string>;
}

// What imports these may show any entry of any collection.
const collections = /astro:content|data-layer-content/;
// Others, such as those of a slot, come and go.
const ownProps = ['id', 'of', 'params', 'as', 'optional'];
const image = /\.(?:png|jpe?g|webp|avif|gif|svg)$/;

/** Finds out where embeds are written. The sources are read once an error or a warning needs them. */
export class SourceSearch {
  readonly source: SiteSource;
  #embeds: SourceEmbed[] | undefined;
  readonly #onPage = new Map<string, SourceEmbed[]>();

  constructor(source: SiteSource) {
    this.source = source;
  }

  get #all(): SourceEmbed[] {
    this.#embeds ??= listSources(this.source).flatMap((file) => embedsIn(file));
    return this.#embeds;
  }

  /** What pages may ask for, by the ids that are written in `srcDir`. */
  literalRequests(): SnippetRequest[] {
    const { srcDir } = this.source.folders;
    const inside = this.#all.filter(({ file }) => !shownSource(file, srcDir).startsWith('../'));
    return inside.flatMap((embed) => literalRequest(embed) ?? []);
  }

  /** Says where an embed, or a snippet on any page, is written; empty if that is not known. */
  readonly whereWritten: PlaceOf = ({ id, file, line = 1, code, isDoubtful }) => {
    const { publicDir, root } = this.source.folders;
    const copied = join(publicDir, file ?? '');
    if (statSync(copied, { throwIfNoEntry: false })?.isFile()) {
      return `written in ${shownSource(copied, root)}:${line}`;
    }
    let embeds = this.#on(file);
    if (code === 'unrendered-component') {
      embeds = embeds.filter((one) => one.isComponent && isContent(one.file) && !one.file.endsWith('.mdx'));
    } else if (id === undefined) return '';
    return this.#sentence(likely(embeds, id, file), file, isDoubtful);
  };

  ofComponent({ id, page, props }: AskedComponent): ComponentPlace | undefined {
    const own = props.filter((prop) => ownProps.includes(prop));
    const embeds = this.#on(page).filter(({ isComponent, attributes }) => {
      const isWritten = (prop: string) => new RegExp(`\\b${prop}\\b`).test(attributes);
      return isComponent && (attributes.includes('...') || own.every(isWritten));
    });
    const found = likely(embeds, id, page);
    const [place, another] = this.#places(found);
    if (place === undefined || found[0] === undefined) return undefined;
    if (another !== undefined) return { place: this.#sentence(found, page ?? '') };
    const { file, line, column } = found[0];
    return { place, loc: { file: shownSource(file, this.source.folders.root), line, column } };
  }

  /** Warns of embeds in Markdown headings. @param shown the embeds of pages */
  headingWarnings(shown: readonly { inHeading: boolean; request: SnippetRequest }[]): string[] {
    const ids = new Set(shown.flatMap(({ inHeading, request }) => (inHeading ? String(request.id) : [])));
    if (ids.size === 0) return [];
    const found = this.#all.filter(({ inHeading, id }) => inHeading && (id === undefined || ids.has(id)));
    const flaw =
      'has an embed in a heading. Its slug and its entry in the table of contents are without the snippet: Astro writes them before snippets are fetched. Put the embed into the frontmatter title or below the heading, or write the heading as <h2 id="…">, which has no entry there.';
    return this.#places(found).map((place) => `${place} ${flaw}`);
  }

  /** Warns of embeds in frontmatter where the site draws images. */
  imageWarnings(): string[] {
    const drawn = this.source.routes.find(({ type, pattern }) => type === 'endpoint' && image.test(pattern));
    if (drawn === undefined) return [];
    const [place, ...more] = this.#places(this.#all.filter(({ inFrontmatter }) => inFrontmatter));
    if (place === undefined) return [];
    const others = more.length === 0 ? '' : ` and ${count(more.length, 'more place')}`;
    return [
      `${place}${others}: the frontmatter has an embed, and ${drawn.pattern} makes images. An image that shows this text shows the tag. Use the text of a collection's entry there (getEntry(…).data.text), or a title without an embed.`,
    ];
  }

  /** @throws AstroError for a page of `astro dev` with an embed, unless it is prerendered. */
  refuseOnDemand(page: string): void {
    const route = this.#routeOf(page);
    if (route === undefined || route.isPrerendered) return;
    const [, island] = page.split('/_server-islands/');
    const [what, found] =
      island === undefined
        ? [`${page} (route ${route.pattern})`, this.#on(page)]
        : [`The server island ${island}`, this.#all.filter(({ file }) => parse(file).name === island)];
    const message = `${what} is rendered on demand, and contains an embed. Snippets are inlined while the site is built.`;
    throw userError('on-demand-page', [message, ...this.#places(found)].join('\n'));
  }

  /** The embeds of the modules behind a page; all, if these are not known. */
  #on(page: string | undefined): SourceEmbed[] {
    const { folders, importsOf } = this.source;
    const entry = page === undefined ? undefined : this.#routeOf(page)?.entrypoint;
    if (entry === undefined || importsOf === undefined) return this.#all;
    const known = this.#onPage.get(entry);
    if (known !== undefined) return known;
    const ids = new Set([fileOf(join(folders.root, entry))]);
    for (const id of ids) for (const imported of importsOf(id)) ids.add(imported);
    const files = new Set(ids.values().map(fileOf));
    const isAny = ids.size === 1;
    const showsContent = ids.values().some((id) => collections.test(id));
    const found = this.#all.filter(
      ({ file }) => isAny || files.has(file) || (showsContent && isContent(file)),
    );
    this.#onPage.set(entry, found);
    return found;
  }

  #routeOf(page: string): IntegrationResolvedRoute | undefined {
    const { base, routes } = this.source;
    const inside = page.slice(page.startsWith(base) ? base.length : 0).replace(/^\//, '');
    const path = decodePath(canonicalPath(`/${inside}`, true, { trailingSlash: 'never', format: 'file' }));
    return routes.find(({ patternRegex }) => patternRegex.test(path) || patternRegex.test(`${path}/`));
  }

  /** @param page `undefined` for a snippet, which is written in all of the places; an embed is in one of them. */
  #sentence(found: SourceEmbed[], page: string | undefined, isDoubtful = false): string {
    const places = this.#places(found);
    if (places.length === 0) return '';
    const isComputed = found.some(({ id }) => id === undefined);
    const shown = places.slice(0, 3);
    if (places.length > 3) shown.push(count(places.length - 3, 'more place'));
    else if (places.length === 1 && (isComputed || isDoubtful)) shown.push('elsewhere');
    const type = page === undefined && !isComputed && !isDoubtful ? 'conjunction' : 'disjunction';
    return `written in ${new Intl.ListFormat('en-GB', { type }).format(shown)}${isComputed ? ', id computed' : ''}`;
  }

  #places(embeds: SourceEmbed[]): string[] {
    const { root } = this.source.folders;
    return [...new Set(embeds.map(({ file, line }) => `${shownSource(file, root)}:${line}`))];
  }
}

const contentTypes = 'md,mdx,markdown,mdown,mkdn,mkd,mdwn,htm,html,json,yml,yaml,toml';
const moduleTypes = 'astro,js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,svelte';

/** Whether a file may be an entry of a collection, which no module imports. */
const isContent = (file: string) => contentTypes.split(',').includes(extname(file).slice(1));

/** What is in `srcDir` or loaded, and content anywhere in the project but in packages, the output and hidden folders. */
function listSources({ folders: { root, srcDir, publicDir, outDir }, loaded }: SiteSource): string[] {
  const list = (cwd: string, types: string): string[] => {
    const left = [publicDir, outDir].map((path) => `${shownSource(path, cwd)}/**`);
    const found = globSync(`**/*.{${types}}`, { cwd, exclude: ['**/node_modules/**', ...left] });
    return found.map((path) => fileOf(join(cwd, path)));
  };
  const listed = [...list(root, contentTypes), ...list(srcDir, `${contentTypes},${moduleTypes}`)].sort();
  return [...new Set([...listed, ...loaded])];
}

/** The embeds that may be the one on a page, or those of a snippet on any page. */
function likely(embeds: SourceEmbed[], id: string | undefined, page: string | undefined) {
  const literal = embeds.filter((one) => one.id !== undefined && one.id.toLowerCase() === id?.toLowerCase());
  const computed = embeds.filter((one) => one.id === undefined);
  if (page === undefined) return literal.length > 0 ? literal : computed;
  // One of them may have the name of the page.
  const isNamed = ({ file }: SourceEmbed) => Number(page.includes(parse(file).name));
  return [...literal.sort((a, b) => isNamed(b) - isNamed(a)), ...computed];
}
