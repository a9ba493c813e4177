import { globSync, statSync } from 'node:fs';
import { extname, join, parse } from 'node:path';
import type { IntegrationResolvedRoute } from 'astro';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { ComponentPlace, FailedComponent } from '../embed/component-bridge.ts';
import type { PlaceOf } from '../failures/embed-notes.ts';
import { userError } from '../failures/errors.ts';
import { listPlaces } from '../failures/places.ts';
import { canonicalPath, decodePath, pathBelow } from '../settings/site-urls.ts';
import { count } from '../text/format.ts';
import type { SiteSource } from './site-source.ts';
import { embedsIn, literalRequest, type SourceEmbed } from './source-embeds.ts';
import { fileOf, relativeSource } from './source-file.ts';

/** Modules through which a page may show any entry of any collection. */
const collectionModules = /astro:content|data-layer-content/;

/** Props that a `<Snippet>` gets only from its tag. Astro adds and removes others, such as `slot`. */
const writtenProps = ['id', 'of', 'params', 'as', 'optional'];

/** Routes of generated images, such as `/og/[slug].png`. */
const imageRoute = /\.(?:png|jpe?g|webp|avif|gif|svg)$/;

/** How many places of an embed are listed: a snippet in content may be written in many files. */
const maxPositions = 5;

/**
 * Finds where in a site's sources its embeds are written, for errors and warnings. Sources are read once,
 * when the first message needs a place. A page is traced to its sources through its route and the modules
 * that it imports.
 */
export class SourceSearch {
  readonly source: SiteSource;
  #embeds: SourceEmbed[] | undefined;
  /** The embeds in the modules behind a page, by the page's entry module. */
  readonly #embedsByEntry: Map<string, SourceEmbed[]> = new Map();

  constructor(source: SiteSource) {
    this.source = source;
  }

  /** Says where an embed, or a snippet on any page, is written. An arrow function, to be passed around. */
  readonly whereWritten: PlaceOf = ({ id, file, line = 1, code, isDoubtful = false }) => {
    const { publicDir, root } = this.source.folders;
    const copied = join(publicDir, file ?? '');
    if (statSync(copied, { throwIfNoEntry: false })?.isFile()) {
      return `written in ${relativeSource(copied, root)}:${line}`;
    }

    let embeds = this.#embedsOn(file);
    if (code === 'unrendered-component') embeds = embeds.filter(isUnrenderedComponent);
    else if (id === undefined) return '';

    return this.#describe(candidatesIn(embeds, id, file), { isInAll: file === undefined, isDoubtful });
  };

  /**
   * The places in the sources of a page that may write an embed of a snippet, so that an editor can open them: those with
   * the id or, without any, those that compute it.
   *
   * @param page the path of the page's URL.
   */
  positionsOf(id: number, page: string): { place: string; position: string }[] {
    const candidates = candidatesIn(this.#embedsOn(page), String(id), page);
    const literal = candidates.filter((embed) => embed.id !== undefined);
    const { root } = this.source.folders;
    const positions = (literal.length > 0 ? literal : candidates).map(({ file, line, column }) => {
      const place = `${relativeSource(file, root)}:${line}`;
      return [place, { place, position: `${file}:${line}:${column}` }] as const;
    });
    // Two embeds in one line are one place to go to: the first.
    return [...new Map(positions.reverse()).values()].reverse().slice(0, maxPositions);
  }

  /** The requests that pages may make, as far as they are written literally in `srcDir`. */
  literalRequests(): SnippetRequest[] {
    const { srcDir } = this.source.folders;
    return this.#allEmbeds()
      .filter(({ file }) => !relativeSource(file, srcDir).startsWith('../'))
      .flatMap((embed) => literalRequest(embed) ?? []);
  }

  /** Where a `<Snippet>` that failed is written; `undefined` if that is not known. */
  locateComponent({ id, page, props }: FailedComponent): ComponentPlace | undefined {
    const required = props.filter((prop) => writtenProps.includes(prop));
    const components = this.#embedsOn(page).filter(
      ({ isComponent, attributes }) =>
        isComponent && (attributes.includes('...') || required.every((prop) => mentions(attributes, prop))),
    );
    const candidates = candidatesIn(components, id, page);

    const [embed] = candidates;
    const [place, another] = this.#placesOf(candidates);
    if (!place || !embed) return undefined;
    if (another) return { place: this.#describe(candidates) };
    const { file, line, column } = embed;
    return { place, loc: { file: relativeSource(file, this.source.folders.root), line, column } };
  }

  /** Warns of embeds in Markdown headings. @param shown the embeds of pages */
  headingWarnings(shown: readonly { inHeading: boolean; request: SnippetRequest }[]): string[] {
    const ids = new Set(shown.filter(({ inHeading }) => inHeading).map(({ request }) => String(request.id)));
    if (ids.size === 0) return [];
    const embeds = this.#allEmbeds().filter(
      ({ inHeading, id }) => inHeading && (id === undefined || ids.has(id)),
    );
    return this.#placesOf(embeds).map(
      (place) =>
        `${place} has an embed in a heading. Its slug and its entry in the table of contents are without the snippet: Astro writes them before snippets are fetched. Put the embed into the frontmatter title or below the heading, or write the heading as <h2 id="…">, which has no entry there.`,
    );
  }

  /** Warns of embeds in frontmatter if an endpoint generates images, in which the tags would be shown. */
  imageWarnings(): string[] {
    const route = this.source.routes.find(
      ({ type, pattern }) => type === 'endpoint' && imageRoute.test(pattern),
    );
    if (!route) return [];
    const places = this.#placesOf(this.#allEmbeds().filter(({ inFrontmatter }) => inFrontmatter));
    if (places.length === 0) return [];
    return [
      `${listPlaces(places)}: the frontmatter has an embed, and ${route.pattern} makes images. An image that shows this text shows the tag. Use the text of a collection's entry there (getEntry(…).data.text), or a title without an embed.`,
    ];
  }

  /**
   * Refuses the embeds of a page of `astro dev`, unless a build prerenders it.
   *
   * @throws UserError for a page or a server island that is rendered on demand.
   */
  refuseOnDemand(page: string): void {
    const route = this.#routeOf(page);
    if (!route || route.isPrerendered) return;

    const [, island] = page.split('/_server-islands/');
    const subject = island === undefined ? `${page} (route ${route.pattern})` : `The server island ${island}`;
    const embeds =
      island === undefined
        ? this.#embedsOn(page)
        : this.#allEmbeds().filter(({ file }) => parse(file).name === island);
    const message = `${subject} is rendered on demand, and contains an embed. Snippets are inlined while the site is built.`;
    throw userError('on-demand-page', [message, ...this.#placesOf(embeds)].join('\n'));
  }

  #allEmbeds() {
    this.#embeds ??= listSources(this.source).flatMap((file) => embedsIn(file));
    return this.#embeds;
  }

  /** The embeds in the modules behind a page; all embeds of the site if these modules are not known. */
  #embedsOn(page?: string) {
    const { folders, modules } = this.source;
    const entry = page && this.#routeOf(page)?.entrypoint;
    if (!entry || !modules) return this.#allEmbeds();
    const known = this.#embedsByEntry.get(entry);
    if (known) return known;

    // The loop also visits the imports that it adds to the set.
    const ids = new Set([fileOf(join(folders.root, entry))]);
    for (const id of ids) for (const imported of modules.importsOf(id)) ids.add(imported);

    // An entry without imports is not in the graph by this id, like a page of a package: all embeds stay.
    const isUnknown = ids.size === 1;
    const files = new Set(ids.values().map(fileOf));
    const showsContent = ids.values().some((id) => collectionModules.test(id));
    const embeds = this.#allEmbeds().filter(
      ({ file }) => isUnknown || files.has(file) || (showsContent && isContent(file)),
    );
    this.#embedsByEntry.set(entry, embeds);
    return embeds;
  }

  /** @param page the name of a file in the output, such as `about/index.html`, or the path of a URL. */
  #routeOf(page: string): IntegrationResolvedRoute | undefined {
    const { base, routes } = this.source;
    const below = page.startsWith('/') ? pathBelow(base, page) : `/${page}`;
    const path = decodePath(canonicalPath(below, true, { trailingSlash: 'never', format: 'file' }));
    return routes.find(({ patternRegex }) => patternRegex.test(path) || patternRegex.test(`${path}/`));
  }

  /**
   * "written in src/a.md:2, src/b.md:2 and 3 more places"; empty without an embed.
   *
   * @param options.isInAll Whether "and" joins the places. An embed of one page is in one of them: "or".
   * @param options.isDoubtful Whether the embed may be written elsewhere.
   */
  #describe(embeds: SourceEmbed[], { isInAll = false, isDoubtful = false } = {}) {
    const places = this.#placesOf(embeds);
    if (places.length === 0) return '';

    const isComputed = embeds.some(({ id }) => id === undefined);
    const isUncertain = isComputed || isDoubtful;
    const listed = places.slice(0, 3);
    if (places.length > 3) listed.push(count(places.length - 3, 'more place'));
    else if (places.length === 1 && isUncertain) listed.push('elsewhere');

    const type = isInAll && !isUncertain ? 'conjunction' : 'disjunction';
    const list = new Intl.ListFormat('en-GB', { type }).format(listed);
    return `written in ${list}${isComputed ? ', id computed' : ''}`;
  }

  /** "src/pages/index.astro:12", each once. */
  #placesOf(embeds: SourceEmbed[]) {
    const { root } = this.source.folders;
    return [...new Set(embeds.map(({ file, line }) => `${relativeSource(file, root)}:${line}`))];
  }
}

const mentions = (attributes: string, prop: string) => new RegExp(`\\b${prop}\\b`).test(attributes);

/** Whether a component is written where nothing renders it: in content other than MDX. */
const isUnrenderedComponent = ({ isComponent, file }: SourceEmbed) =>
  isComponent && isContent(file) && !file.endsWith('.mdx');

/** The embeds that may be the one on a page or, without a page, those that may show a snippet anywhere. */
function candidatesIn(embeds: SourceEmbed[], id: string | undefined, page: string | undefined) {
  const literal = embeds.filter(
    (embed) => embed.id !== undefined && embed.id.toLowerCase() === id?.toLowerCase(),
  );
  const computed = embeds.filter((embed) => embed.id === undefined);
  if (page === undefined) return literal.length > 0 ? literal : computed;

  // A source file that is named like the page comes first.
  const isNamed = ({ file }: SourceEmbed) => Number(page.includes(parse(file).name));
  return [...literal.sort((a, b) => isNamed(b) - isNamed(a)), ...computed];
}

const contentExtensions = 'md,mdx,markdown,mdown,mkdn,mkd,mdwn,htm,html,json,yml,yaml,toml';
const moduleExtensions = 'astro,js,cjs,mjs,jsx,ts,cts,mts,tsx,vue,svelte';

/** Whether a file may be an entry of a collection, which no module imports. */
const isContent = (file: string) => contentExtensions.split(',').includes(extname(file).slice(1));

/**
 * Lists the files that may write embeds: content anywhere in the project, modules in `srcDir`, and files that
 * Vite has loaded. Leaves out packages, the output, files that are copied to it, and hidden folders.
 */
function listSources({ folders, loaded }: SiteSource) {
  const { root, srcDir, publicDir, outDir } = folders;
  const list = (cwd: string, extensions: string) => {
    const excluded = [publicDir, outDir].map((path) => `${relativeSource(path, cwd)}/**`);
    const paths = globSync(`**/*.{${extensions}}`, { cwd, exclude: ['**/node_modules/**', ...excluded] });
    return paths.map((path) => fileOf(join(cwd, path)));
  };
  const listed = [
    ...list(root, contentExtensions),
    ...list(srcDir, `${contentExtensions},${moduleExtensions}`),
  ].sort();
  return [...new Set([...listed, ...loaded])];
}
