import { type SnippetRequest, toRequest } from '../client/snippet-request.ts';
import { type ComponentBridge, containerPage, type PassedToIsland } from '../embed/component-bridge.ts';
import { embedNamePattern } from '../embed/element.ts';
import { describeNote, type InvalidEmbed } from '../failures/embed-notes.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import type { ScannedSite } from '../inlining/scan-site.ts';
import type { ScannableFile } from '../output/site-files.ts';
import { filesAt } from '../settings/route-files.ts';
import type { FileEmbed } from '../snippets/read-embeds.ts';
import { embedTagsIn } from '../source/find-written.ts';

/** An embed that a page has rendered, but that is not in the output. */
export interface LostEmbed extends InvalidEmbed {
  /** The output files that the page's route may have been written to; empty if they are not known. */
  files: string[];
}

/** A page on which `<Snippet>` was rendered, with the keys of the requests in the order of the page. */
interface AnnouncedPage {
  pathname: string;
  keys: string[];
}

/** An announced page whose files are looked for in the output. */
interface OutputPage extends AnnouncedPage {
  /** The names of the page's files in the output; empty if they are not known. */
  files: string[];
}

/** The embeds of a generated site. Their request keys leave out what the option `params` adds. */
interface OutputEmbeds {
  /** The request keys of the embeds of each file, in the order of the file. */
  keysIn: ReadonlyMap<string, readonly string[]>;
  /** How many embeds the site has for each request key. */
  counts: ReadonlyMap<string, number>;
  /** The names of all files that are searched for embeds. */
  names: ReadonlySet<string>;
  /** The names of files with an invalid embed. */
  invalid: ReadonlySet<string>;
}

/**
 * Hears what `<Snippet>` announces while pages are rendered. A build can then prefetch each snippet early,
 * and later compares what was rendered with what is in the output: a site may cut text, or remove its tags,
 * before it writes the text.
 */
export class Announcements {
  readonly #bridge: ComponentBridge;
  readonly #onFirst: (request: SnippetRequest) => void;
  readonly #requests = new Map<string, SnippetRequest>();
  /** The server islands whose props or slots mention an embed. */
  readonly #islands: PassedToIsland[] = [];
  /** The announced pages, by the paths for which Astro writes them. */
  readonly #pages = new Map<string, AnnouncedPage>();

  /**
   * @param bridge that of the site
   * @param onFirst called when a snippet is first announced. An error that it throws fails the page
   */
  constructor(bridge: ComponentBridge, onFirst: (request: SnippetRequest) => void) {
    this.#bridge = bridge;
    this.#onFirst = onFirst;
  }

  listen(): void {
    this.#bridge.announce = this.#hear;
    this.#bridge.announceIsland = this.#hearIsland;
  }

  stop(): void {
    // A later build of this site in this process may listen by now, and must go on hearing announcements.
    if (this.#bridge.announce === this.#hear) this.#bridge.announce = undefined;
    if (this.#bridge.announceIsland === this.#hearIsland) this.#bridge.announceIsland = undefined;
  }

  /** Whether an embed may have been passed to a server island. */
  get hasIslands(): boolean {
    return this.#islands.length > 0;
  }

  /**
   * Finds embeds that were rendered and are not in the output, or were passed to a server island. If the output has a snippet, but less often,
   * this only warns: a page may also render it for another purpose.
   */
  lost(scanned: ScannedSite, scannable: readonly ScannableFile[], site: GeneratedSite): LostEmbed[] {
    const { urls, logger, astro } = site;
    const output = embedsInOutput(scanned, scannable);
    const rendered = countKeys([...this.#pages.values()].flatMap(({ keys }) => keys));
    const lost: LostEmbed[] = [];
    if (this.#pages.size === 0) return this.#passed(lost);

    for (const [writtenPath, announced] of this.#pages) {
      const names = filesAt(writtenPath, { base: '/', format: urls.format });
      const page = { ...announced, files: names.filter((name) => output.names.has(name)) };
      if (isAsRendered(page, output) || mayBeInvalid(page, output)) continue;

      const found = page.files.length > 0 ? countKeys(keysOf(page, output)) : output.counts;
      for (const [key, times] of countKeys(page.keys)) {
        const id = `${this.#requests.get(key)?.id}`;
        const timesFound = found.get(key) ?? 0;
        if (timesFound === 0) {
          lost.push(lostEmbed(page, id));
          continue;
        }
        const timesRendered = rendered.get(key) ?? 0;
        const isFewer = (output.counts.get(key) ?? 0) < timesRendered;
        const timesExpected = expectedTimes(page, times, timesRendered);
        if (!isFewer || timesFound >= timesExpected) continue;
        const message = fewerMessage(page, id, timesExpected, timesFound);
        logger.warn(describeNote({ id, file: page.files[0], message }, astro?.search.whereWritten));
      }
    }
    return this.#passed(lost);
  }

  /** Adds the embeds that pages have passed to server islands, unless `<Snippet>` has announced them as lost. */
  #passed(lost: LostEmbed[]): LostEmbed[] {
    const known = new Set(lost.map(({ id }) => id));
    const passed = this.#islands.flatMap(({ page = containerPage, name, passed }) =>
      embedTagsIn(JSON.stringify(passed)).flatMap((tag) => {
        const id = /\sid=(?:\\?["']|&quot;|&#3[49];)?(\d+)/.exec(tag)?.[1];
        if (id !== undefined && known.has(id)) return [];
        const snippet = id === undefined ? 'A snippet' : `Snippet ${id}`;
        const message = `${snippet} is passed to the server island ${name}, which is rendered on demand.`;
        return { id, file: page, files: [], code: 'on-demand-page' as const, message };
      }),
    );
    return [...lost, ...passed];
  }

  readonly #hearIsland = (island: PassedToIsland): void => {
    if (embedNamePattern.test(JSON.stringify(island.passed))) this.#islands.push(island);
  };

  readonly #hear: NonNullable<ComponentBridge['announce']> = (id, params, { path, writtenPath }) => {
    const request = toRequest(id, params);
    const known = this.#requests.get(request.key);
    // All equal keys share one string: a large site has many announcements of few snippets.
    const { key } = known ?? request;
    const page = this.#pages.get(writtenPath);
    if (page) page.keys.push(key);
    else this.#pages.set(writtenPath, { pathname: path, keys: [key] });

    if (known) return;
    this.#requests.set(key, request);
    this.#onFirst(request);
  };
}

function embedsInOutput(scanned: ScannedSite, scannable: readonly ScannableFile[]): OutputEmbeds {
  const keysIn = new Map(scanned.files.map(({ name, embeds }) => [name, embeds.map(writtenKey)]));
  return {
    keysIn,
    counts: countKeys([...keysIn.values()].flat()),
    names: new Set(scannable.map(({ name }) => name)),
    invalid: new Set(scanned.invalid.map(({ file }) => file)),
  };
}

/** The request key of an embed as written on the page, without the params that the option `params` adds. */
const writtenKey = ({ request, written = request.key }: FileEmbed) => written;

const keysOf = ({ files }: OutputPage, { keysIn }: OutputEmbeds) =>
  files.flatMap((name) => keysIn.get(name) ?? []);

/** Whether the files of a page hold exactly the embeds that it has announced, in the same order. */
function isAsRendered(page: OutputPage, output: OutputEmbeds): boolean {
  const keys = keysOf(page, output);
  return keys.length === page.keys.length && keys.every((key, index) => key === page.keys[index]);
}

/** Whether a lost embed may be one that is reported as invalid, in a file of the page (in any if unknown). */
function mayBeInvalid({ files }: OutputPage, { invalid }: OutputEmbeds): boolean {
  return files.length > 0 ? files.some((name) => invalid.has(name)) : invalid.size > 0;
}

/** How many embeds of a snippet the output should have at least for a page; 0 if that is not known. */
function expectedTimes({ pathname, files }: OutputPage, times: number, timesRendered: number): number {
  if (files.length > 0) return times;
  // The page may be an endpoint that writes no file, or another one that was rewritten: nothing can be expected.
  return pathname === containerPage ? timesRendered : 0;
}

function lostEmbed({ pathname, files }: OutputPage, id: string): LostEmbed {
  const message = `Snippet ${id} was rendered here, but is not in the output.`;
  return { file: pathname, code: 'embed-lost', message, files, id };
}

function fewerMessage({ pathname, files }: OutputPage, id: string, expected: number, found: number) {
  const place = files.join(', ') || pathname;
  const times = found === 1 ? 'once' : `${found} times`;
  return `${place}: snippet ${id} was rendered ${expected} times, but is in the output only ${times}. What is made of text without tags, such as an excerpt, has no snippets.`;
}

function countKeys(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
