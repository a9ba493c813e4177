import { basename, extname, join } from 'node:path';
import type { IntegrationResolvedRoute } from 'astro';
import { count } from '../client/format.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { AskedComponent, ComponentPlace } from '../embed/element.ts';
import { type UserError, userError } from '../failures/errors.ts';
import type { InvalidEmbed } from '../failures/report.ts';
import { embedsIn, literalRequest, propsOf, type SourceEmbed } from './source-embeds.ts';
import {
  fileOf,
  isContent,
  isFile,
  listSources,
  readSource,
  type SourceFolders,
  shownSource,
} from './source-files.ts';

/** What is known of the sources of a site. */
export interface SiteSource {
  folders: SourceFolders;
  /** The base of the Astro config, which URLs begin with. */
  base: string;
  /** In the order in which Astro matches them. */
  routes: readonly IntegrationResolvedRoute[];
  /** Files that Vite has loaded and that mention embeds. They may be outside of the project. */
  loaded: Set<string>;
  /** The ids of what a module imports. `undefined` before anything is bundled. */
  importsOf?: ((id: string) => Iterable<string>) | undefined;
}

/** An embed to be found in the sources. */
interface Asked {
  /** As it is written; `undefined` if it is not known. */
  id: string | undefined;
  /** The name of its file in the output, or the path of its URL. */
  page?: string | undefined;
  isSought?(embed: SourceEmbed): boolean;
}

/** Embeds by their ids, and those whose ids are computed. */
interface Candidates {
  all: readonly SourceEmbed[];
  byId: ReadonlyMap<string | undefined, readonly SourceEmbed[]>;
}

const shownPlaces = 3;
// What imports these may show any entry of any collection.
const collections = /astro:content|data-layer-content/;
// Others, such as those of a slot, come and go.
const ownProps = ['id', 'of', 'params', 'as', 'optional'];
const islands = '/_server-islands/';

/**
 * Finds out where embeds are written. The sources are read once, when first asked: nothing in the output tells, and only
 * an error or a warning needs it.
 */
export class SourceSearch {
  readonly #source: SiteSource;
  #embeds: readonly SourceEmbed[] | undefined;
  #everywhere: Candidates | undefined;
  /** By the entry point of the page. */
  readonly #onPage = new Map<string, Candidates>();
  /** Thousands of embeds may be alike. */
  readonly #known = new Map<string, string>();

  constructor(source: SiteSource) {
    this.#source = source;
  }

  /** All embeds of the sources, by file and line. */
  get embeds(): readonly SourceEmbed[] {
    this.#embeds ??= [...new Set([...listSources(this.#source.folders), ...this.#source.loaded])].flatMap(
      (file) => embedsIn(readSource(file), file),
    );
    return this.#embeds;
  }

  /** Snippets whose ids are written in `srcDir`: a guess, made before a page is rendered. */
  literalRequests(): SnippetRequest[] {
    const { srcDir } = this.#source.folders;
    const inside = this.embeds.filter(({ file }) => !shownSource(file, srcDir).startsWith('../'));
    return [
      ...new Map(
        inside.flatMap((embed) => literalRequest(embed) ?? []).map((one) => [one.key, one]),
      ).values(),
    ];
  }

  /** Says where a snippet is written, for people; empty if that is not known. */
  ofSnippet(id: number): string {
    const asked = String(id);
    const literal = this.#all.byId.get(asked);
    if (literal === undefined) return this.ofEmbed({ id: asked });
    const places = this.#places(literal);
    const more = places.length - shownPlaces;
    const shown = places.slice(0, shownPlaces).join(', ');
    return `written in ${shown}${more > 0 ? ` and ${count(more, 'more place')}` : ''}`;
  }

  /** Says where one embed is written, for people: in one of these places. */
  ofEmbed(asked: Asked): string {
    const found = this.#find(asked);
    const places = this.#places(found);
    const isComputed = found.some(({ id }) => id === undefined);
    const more = places.length - shownPlaces;
    const shown = places.slice(0, shownPlaces);
    if (shown.length === 0) return '';
    if (more > 0) shown.push(count(more, 'more place'));
    else if (shown.length === 1 && isComputed) shown.push('elsewhere');
    const last = shown.pop();
    const list = shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
    return `written in ${list}${isComputed ? ', id computed' : ''}`;
  }

  /** Adds to each invalid embed where it is written. */
  locate(invalid: readonly InvalidEmbed[]): InvalidEmbed[] {
    return invalid.map((embed) => {
      const { id, file, line, code } = embed;
      const key = JSON.stringify([id, file, code]);
      const place = this.#fromPublic(file, line) ?? this.#known.get(key) ?? this.#placeOf(embed);
      this.#known.set(key, place);
      return place === '' ? embed : { ...embed, place };
    });
  }

  #placeOf({ id, file: page, code }: InvalidEmbed): string {
    if (code === 'unrendered-component') {
      // In MDX, a component is rendered.
      const isSought = ({ kind, file }: SourceEmbed) =>
        kind === 'component' && isContent(file) && !file.endsWith('.mdx');
      return this.ofEmbed({ id, page, isSought });
    }
    return id === undefined ? '' : this.ofEmbed({ id, page });
  }

  /** A file that the build has copied as it is. */
  #fromPublic(name: string, line = 1): string | undefined {
    const { publicDir, root } = this.#source.folders;
    const file = join(publicDir, name);
    return isFile(file) ? `written in ${shownSource(file, root)}:${line}` : undefined;
  }

  /** Finds the place of a `<Snippet>` by its props. */
  ofComponent({ id, page, props }: AskedComponent): ComponentPlace | undefined {
    const isSought = ({ kind, attributes }: SourceEmbed) => {
      const written = propsOf(attributes);
      const isAlike = ownProps.every((prop) => written?.includes(prop) === props.includes(prop));
      return kind === 'component' && (written === undefined || isAlike);
    };
    const found = this.#find({ id, page, isSought });
    const [first] = found;
    if (first === undefined) return undefined;
    const [place = '', ...others] = this.#places(found);
    if (others.length > 0) return { place: this.ofEmbed({ id, page, isSought }) };
    const { file, line, column } = first;
    return { place, loc: { file: shownSource(file, this.#source.folders.root), line, column } };
  }

  /**
   * Warns about each embed in a Markdown heading, with its source. Astro writes a heading's slug and its entry in the
   * table of contents before any snippet is fetched.
   *
   * @param shown the embeds of pages, and whether they are in headings with ids.
   */
  headingWarnings(shown: readonly { inHeading: boolean; request: SnippetRequest }[]): string[] {
    const ids = new Set(shown.flatMap(({ inHeading, request }) => (inHeading ? String(request.id) : [])));
    if (ids.size === 0) return [];
    const found = this.embeds.filter(({ inHeading, id }) => inHeading && (id === undefined || ids.has(id)));
    return this.#places(found).map((place) => `${place} ${headingWarning}`);
  }

  /**
   * The error for a page of `astro dev` that contains an embed although it is rendered on demand; `undefined` for a
   * prerendered page.
   */
  onDemandError(page: string): UserError | undefined {
    const { path, route } = this.#routeOf(page);
    if (route === undefined || route.isPrerendered) return undefined;
    const island = path.startsWith(islands) ? path.slice(islands.length) : undefined;
    const isIsland = ({ file }: SourceEmbed) => basename(file, extname(file)) === island;
    const found = island === undefined ? this.#on(page).all : this.embeds.filter(isIsland);
    const what = island === undefined ? `${page} (route ${route.pattern})` : `The server island ${island}`;
    const places = this.#places(found).map((place) => `\n${place}`);
    return userError(
      'on-demand-page',
      `${what} is rendered on demand, and contains an embed. Snippets are inlined while the site is built.${places.join('')}`,
    );
  }

  #find({ id, page, isSought = () => true }: Asked): readonly SourceEmbed[] {
    const { byId } = page === undefined ? this.#all : this.#on(page);
    const literal = id === undefined ? [] : (byId.get(id.toLowerCase()) ?? []);
    // One of them may have the name of the page.
    const isNamed = ({ file }: SourceEmbed) => page?.includes(basename(file, extname(file))) === true;
    const ordered = [...literal].sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)));
    return [...ordered, ...(byId.get(undefined) ?? [])].filter(isSought);
  }

  get #all(): Candidates {
    this.#everywhere ??= candidates(this.embeds);
    return this.#everywhere;
  }

  /** The embeds of the modules behind a page; all, if these are not known. */
  #on(page: string): Candidates {
    const { folders, importsOf } = this.#source;
    const { route } = this.#routeOf(page);
    if (route === undefined || importsOf === undefined) return this.#all;
    const known = this.#onPage.get(route.entrypoint);
    if (known !== undefined) return known;
    const ids = new Set([fileOf(join(folders.root, route.entrypoint))]);
    for (const id of ids) for (const imported of importsOf(id)) ids.add(imported);
    const files = new Set([...ids].map(fileOf));
    const showsCollections = [...ids].some((id) => collections.test(id));
    const onPage =
      ids.size === 1
        ? this.#all
        : candidates(
            this.embeds.filter(({ file }) => files.has(file) || (showsCollections && isContent(file))),
          );
    this.#onPage.set(route.entrypoint, onPage);
    return onPage;
  }

  #routeOf(page: string): { path: string; route: IntegrationResolvedRoute | undefined } {
    const { base, routes } = this.#source;
    const inside = page
      .slice(page.startsWith(base) ? base.length : 0)
      .replace(/(^|\/)index\.html$|\.html$/, '$1');
    const path = `/${inside.replace(/^\//, '')}`;
    const spellings = [path, path.replace(/\/$/, ''), `${path}/`].map(decode);
    return {
      path,
      route: routes.find(({ patternRegex }) => spellings.some((one) => patternRegex.test(one))),
    };
  }

  #places(embeds: readonly SourceEmbed[]): string[] {
    const { root } = this.#source.folders;
    return [...new Set(embeds.map(({ file, line }) => `${shownSource(file, root)}:${line}`))];
  }
}

function candidates(all: readonly SourceEmbed[]): Candidates {
  return { all, byId: Map.groupBy(all, ({ id }) => id?.toLowerCase()) };
}

/** The lines of a file that write embeds, or that name what does. */
export function linesIn(file: string): number[] {
  const text = readSource(file);
  const lines = embedsIn(text, file).map(({ line }) => line);
  if (lines.length > 0) return [...new Set(lines)];
  const named = text.split('\n').findIndex((line) => /snippet-embed|astro-snippets\/components/i.test(line));
  return named === -1 ? [] : [named + 1];
}

const headingWarning =
  'has an embed in a heading. Its slug and its entry in the table of contents are without the snippet: Astro writes them before snippets are fetched. Put the embed into the frontmatter title or below the heading, or write the heading as <h2 id="…">, which has no entry there.';

function decode(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
