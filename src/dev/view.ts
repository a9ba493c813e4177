import { AsyncLocalStorage } from 'node:async_hooks';
import { hash as digest } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { styleText } from 'node:util';
import type { AstroIntegrationLogger } from 'astro';
import { escapeUTF8 } from 'entities/escape';
import picomatch from 'picomatch';
import type { Connect, ViteDevServer } from 'vite';
import { dataElement, panelSnippets } from '../build/edit-links/edit-links.ts';
import { pageInliner } from '../build/inline-page.ts';
import { SnippetError } from '../client/snippet-request.ts';
import { cleanLines, containsKnownKey } from '../client/text.ts';
import type { FileKind } from '../embed/scan.ts';
import {
  consequenceOf,
  describeNote,
  type FailedSnippet,
  failureWarnings,
  isSnippetFailure,
  type SnippetFailure,
  throwFailures,
  UserError,
  userError,
} from '../failures/errors.ts';
import { editUrlOf, isWithoutKey, type Settings, withoutKeyWarning } from '../settings/settings.ts';
import { canonicalPath, routeFiles } from '../settings/site-urls.ts';
import type { FetchedSnippet, ShownAs, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { blockFinder, pageParams, readEmbeds, type SnippetUse } from '../snippets/file-embeds.ts';
import { sourceSearch } from '../source/source-search.ts';
import type { DevRun } from './dev-run.ts';

export type ShownUse = SnippetUse & { snippet: RememberedSnippet };

const kindsByContentType: readonly [kind: FileKind, types: RegExp][] = [
  ['html', /^(text\/html|application\/xhtml\+xml)\b/i],
  ['xml', /^((text|application)\/xml|[\w.-]+\/[\w.-]+\+xml)\b/i],
  ['json', /^(application\/(json|x-ndjson|jsonl)|[\w.-]+\/[\w.-]+\+json)\b/i],
  ['text', /^text\/(plain|markdown|csv)\b/i],
];

// Of Vite itself, and source maps, which are JSON.
const partsOfVite = /\/(?:@(?:vite|id|fs)|node_modules)\/|\.map$/;

/** Inlines snippets in complete responses, whichever runtime renders them. */
export function serveText(
  run: DevRun,
  server: ViteDevServer,
  memory: SnippetMemory,
): Connect.NextHandleFunction {
  const { logger } = run.site;
  const inline = openInlineView(run, server, memory);
  const responses = holdRequestLog(logger);
  const encoded = new Set<string>();
  return ({ originalUrl = '/', method, headers }, response, next) => {
    const [path = '/'] = originalUrl.split('?');
    if (method !== 'GET' || partsOfVite.test(path)) return next();
    const isFetched = headers['sec-fetch-dest'] === 'empty';
    const { writeHead, write, end } = response;
    const text = new PassThrough();
    let isBuffered: boolean | undefined;

    const send = async (kind: FileKind) => {
      const sent = await inline(path, kind, await buffer(text), isFetched);
      Object.assign(response, { writeHead, write, end });
      if (typeof sent === 'string') {
        response.statusCode = 500;
        response.setHeader('content-type', 'text/html; charset=utf-8');
      }
      response.removeHeader('etag');
      response.setHeader('content-length', Buffer.byteLength(sent));
      response.end(sent);
    };
    // Decided with the headers or the first byte, whichever comes first.
    const decide = () => {
      const type = String(response.getHeader('content-type') ?? '');
      const [found] = kindsByContentType.find(([, types]) => types.test(type)) ?? [];
      // Plain text without a file extension in its URL may be a stream, which cannot wait.
      const kind = found === 'text' && !/\.\w+$/.test(path) ? undefined : found;
      const encoding = String(response.getHeader('content-encoding') ?? 'identity');
      if (kind && encoding === 'identity') {
        send(kind).catch((error) => response.destroy(error));
        return true;
      }
      Object.assign(response, { writeHead, write, end });
      if (kind && !encoded.has(path)) {
        encoded.add(path);
        logger.warn(
          `${path} is sent with the content encoding ${encoding}, so it is left as it is, without its snippets. Compress responses only where the site is deployed.`,
        );
      }
      return false;
    };

    const take = (part: 'write' | 'end', rest: [string]) => {
      isBuffered ??= decide();
      if (!isBuffered) return response[part](...rest);
      text[part](...rest);
      // The writer need not wait.
      return part === 'write' || response;
    };
    Object.assign(response, {
      writeHead(status: number, ...rest: unknown[]) {
        const given = rest.find((part) => typeof part === 'object') ?? {};
        const list = Array.isArray(given) ? given : Object.entries(given).flat();
        for (let at = 0; at < list.length; at += 2) response.setHeader(list[at], list[at + 1]);
        isBuffered ??= decide();
        if (!isBuffered)
          return response.writeHead(status, ...rest.filter((part) => typeof part === 'string'));
        response.statusCode = status;
        return response;
      },
      write: (...rest: [string]) => take('write', rest),
      end: (...rest: [string]) => take('end', rest),
    });
    responses.run(response, next);
  };
}

/** Holds back Astro's line about a request until its status is known. */
function holdRequestLog({ options }: AstroIntegrationLogger) {
  const responses = new AsyncLocalStorage<ServerResponse>();
  // Before Astro 7, it is `dest`.
  const { dest, destination = dest } = options as object as Record<string, typeof options.destination>;
  if (!destination) return responses;
  const write = destination.write.bind(destination);
  destination.write = (event) => {
    const response = responses.getStore();
    const status = /^\S*\[\d{3}\]/;
    if (!response || response.closed || !status.test(event.message)) return write(event);
    response.once('close', () => {
      const { message } = event;
      const sent = styleText('red', '[500]');
      write({ ...event, message: response.statusCode === 500 ? message.replace(status, sent) : message });
    });
  };
  return responses;
}

/** As a build does. What a build would fail for becomes the HTML of an error page. */
function openInlineView(run: DevRun, server: ViteDevServer, memory: SnippetMemory) {
  const { logger, sources } = run.site;
  const { base } = server.config;
  // By page: each line is logged once, until it is over.
  const said = new Map<string, readonly string[]>();

  return async (page: string, kind: FileKind, bytes: Buffer, isFetched: boolean) => {
    const { settings, urls } = run;
    const isPage = kind === 'html';
    // By what each says, without its counts and times.
    const lines = new Map<string, () => void>();
    const warn = (line: string) => void lines.set(line, () => logger.warn(line));
    let hash: string | undefined;
    let failures: string | undefined;
    try {
      const names = [page.slice(base.length), ...(isPage ? routeFiles(page, base) : [])];
      if (names.some((name) => picomatch.isMatch(name, settings.exclude))) return bytes;
      const search = sourceSearch(sources);
      const placeOf = search.whereWritten;
      const uses = new Map<string, SnippetUse>();
      const addParams = pageParams(settings.params, canonicalPath(page, isPage, urls));
      const { embeds, invalid, warnings } = readEmbeds({ name: page, bytes, kind, addParams }, uses);
      for (const note of warnings) warn(describeNote(note, placeOf));
      if (embeds.length + invalid.length > 0) search.refuseOnDemand(page);
      const withoutKey = uses.size > 0 && isWithoutKey(settings);
      if (withoutKey) warn(withoutKeyWarning(settings));
      // A script does not ask again about what it has fetched.
      const isLast = !isPage || isFetched;
      const show = async (use: SnippetUse) => ({ ...use, snippet: await memory.get(use, isLast) });
      // In the order of the page, as the toolbar lists them.
      const shown = await Promise.all(withoutKey ? [] : uses.values().map(show));
      // Nothing is awaited from here: another page may update a snippet.
      if (shown.length > 0) hash = memory.hashOf(shown.map(({ snippet }) => snippet));
      const snippets = new Map(
        shown.flatMap(({ request, snippet: { content } }) => (content ? [[request.key, content]] : [])),
      );
      const failed = shown.flatMap(({ snippet: { content, error }, ...use }): FailedSnippet[] =>
        content || !error ? [] : [{ ...use, error }],
      );
      if (isPage) {
        const blocks = blockFinder((key) => snippets.get(key)?.html, placeOf);
        blocks.add(page, bytes, embeds);
        [...search.headingWarnings(embeds), ...blocks.warnings()].forEach(warn);
      }
      if (failed.length > 0) {
        const looks = failed.map(({ request, error }) => [request.key, failureIdentity(error)]);
        failures = JSON.stringify([page, invalid, looks]);
        lines.set(failures, () => logger.warn(failureWarnings(failed).join('\n')));
      }
      throwFailures({ failed, notAsked: 0, embeds: invalid, placeOf });
      const panel = panelSnippets(shown, snippets, (id) => linkOf(id, settings.editUrl, warn), describeUse);
      const linked = hash ? panel : undefined;
      const inlinePage = pageInliner({ snippets, rules: { policy: 'none' }, linked, hash });
      const { file } = inlinePage({ name: page, kind }, bytes, embeds);
      if (containsKnownKey(file.toString('latin1'))) throw keyError(shown, page);
      return file;
    } catch (error) {
      const message = cleanLines((error as Error).message);
      const { code, hint: next = '' }: Partial<UserError> = error instanceof UserError ? error : {};
      // A report names the codes itself.
      const hint = code ? `${code}: ${next}` : next;
      const more = hint && `\n\n  Hint:\n${hint.replaceAll(/^/gm, '    ')}\n`;
      lines.set(failures ?? message, () => logger.error(message.trimEnd() + more));
      // Astro's error overlay expects HTML.
      const html = { message: asHtml(message), hint: asHtml(hint) };
      const err = { name: 'astro-snippets', title: 'Snippets', stack: message, ...html };
      // The response of a server island is not shown. Astro escapes what is not marked.
      const payload = { type: 'error' as const, __isEnhancedAstroErrorPayload: true, err };
      if (page.includes('/_server-islands/')) server.environments.client.hot.send(payload);
      return errorPage(base, err, hash);
    } finally {
      // Two pages may show the same source.
      const known = new Set([...said.values()].flat());
      for (const [what, log] of lines) if (!known.has(what)) log();
      said.set(page, [...lines.keys()]);
    }
  };
}

/** Warns where a build with `editLinks` fails. */
export function linkOf(id: number, editUrl: Settings['editUrl'], warn: (line: string) => void) {
  try {
    return editUrl && editUrlOf(id, editUrl);
  } catch (error) {
    warn(`The dev toolbar shows no link. ${(error as Error).message}`);
    return undefined;
  }
}

export function describeUse({ request: { params }, optionalPlaces, snippet }: ShownUse) {
  const { content, checkedAt, error } = snippet;
  const facts = [
    params,
    content?.variant,
    // From the cache, it took no time.
    content && content.milliseconds > 0 && `${Math.round(content.milliseconds)} ms`,
    content && `${Buffer.byteLength(content.content)} bytes`,
    // The time of day, as in Astro's log.
    checkedAt && `fetched at ${new Date(checkedAt).toLocaleTimeString('en-GB')}`,
  ];
  const escaped = params && ` params='${params.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}'`;
  return {
    facts: facts.filter(Boolean).join(' · '),
    error: error?.message,
    attributes: `${escaped ?? ''}${optionalPlaces?.size ? ' optional' : ''}`,
  };
}

function keyError(shown: readonly ShownUse[], page: string) {
  const names = shown.flatMap(({ request, snippet: { content } }) =>
    content && [content.html, content.text].some(containsKnownKey) ? `snippet ${request.id}` : [],
  );
  const source = names[0] ? ` in ${[...new Set(names)].join(', ')}` : '';
  return userError('published-key', `The API key was found${source} on ${page}. The page is not shown.`);
}

/** The script of each page of `astro dev`. @param hot JavaScript for its connection to Vite */
export function pageScript(hot: string) {
  return `
const shown = () => document.querySelector('script#snippet-edit-links')?.dataset.hash;
const ask = () => {
  const hash = shown();
  if (hash !== undefined && document.visibilityState === 'visible') ${hot}.send('astro-snippets:ask', { hash });
};
${hot}.on('astro-snippets:answer', ({ hash, hasChanged }) => {
  if (hasChanged && hash === shown()) location.reload();
});
document.addEventListener('visibilitychange', ask);
setInterval(ask, 2000);
ask();
`;
}

/** Shows an error in Astro's overlay, and reloads when it is fixed. */
function errorPage(base: string, error: { message: string; hint: string }, hash: string | undefined) {
  // Only "<" could end the script.
  const json = JSON.stringify(error).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Error</title></head>
<body>${hash ? dataElement([], hash) : ''}<noscript>${error.message}<br>${error.hint}</noscript>
<script type="module">
import { createHotContext, ErrorOverlay } from '${base}@vite/client';
const hot = createHotContext('/@astro-snippets');
${pageScript('hot')}
document.body.append(new ErrorOverlay(${json}));
</script>
</body></html>
`;
}

/** Astro 5 shows an error in a module for the browser as HTML. */
export function escapeOwnErrors(hot: { send: (...message: never[]) => void }) {
  const send = hot.send.bind(hot) as (...message: unknown[]) => void;
  hot.send = (...message: { type?: string; err?: { plugin?: string; message: string } }[]) => {
    const [{ type, err } = {}] = message;
    if (type === 'error' && err?.plugin?.startsWith('astro-snippets:')) err.message = asHtml(err.message);
    send(...message);
  };
}

const asHtml = (text: string) => escapeUTF8(text).replaceAll('\n', '<br>').replaceAll('  ', '&nbsp; ');

/** With content, an error or, while the service is down, both. */
interface RememberedSnippet extends ShownAs {
  content?: FetchedSnippet | undefined;
  error?: SnippetFailure | undefined;
  checkedAt?: number;
  dueAt: number;
  update?: Promise<void>;
}

type SnippetMemory = ReturnType<typeof snippetMemory>;

/**
 * The snippets of a dev server. The first view of one waits for the service. Each is asked for every two seconds, however
 * many pages are open, and every ten seconds in trouble.
 */
export function snippetMemory(fetch: SnippetFetcher['get'], warn: (line: string) => void) {
  const states = new Map<string, RememberedSnippet>();
  /** What pages show, by its hash. */
  const shown = new Map<string, { snippets: readonly RememberedSnippet[]; askedAt: number }>();
  let styles = 0;

  const fetchAgain = async (snippet: RememberedSnippet) => {
    const { error: before, request } = snippet;
    const start = Date.now();
    try {
      const content = await fetch(snippet);
      if (content.html !== snippet.content?.html) content.warnings.forEach(warn);
      Object.assign(snippet, { content, error: content.error, checkedAt: content.fetchedAt ?? Date.now() });
    } catch (error) {
      if (!isSnippetFailure(error)) throw error;
      // The dev server is stopping, or its settings have changed.
      if (error.code === 'closed') return;
      // That the client has stopped asking says less than why.
      snippet.error = error.code === 'unavailable' && isOutage(before) ? before : error;
      if (!isOutage(error)) snippet.content = undefined;
    }
    const { error, content } = snippet;
    const isCalm = !error || consequenceOf(error) === 'fail';
    // A page asks every two seconds, and may be a little early.
    snippet.dueAt = start + (isCalm ? 1_900 : 9_900);
    if (error && content && !before) {
      warn(`${error.message} Snippet ${request.id} is shown as it was last fetched.`);
    }
  };

  /** Fetches a snippet again if that is due, or now: once for all who ask meanwhile. */
  const update = (snippet: RememberedSnippet, isNow = false) => {
    if (!isNow && Date.now() < snippet.dueAt) return undefined;
    snippet.update ??= fetchAgain(snippet).finally(() => delete snippet.update);
    return snippet.update;
  };

  return {
    update,

    /** @param isLast whether nothing asks again, so that this waits for an update that is due. */
    async get({ request, asHtml }: ShownAs, isLast: boolean) {
      // Shown as text, it may break a rule for HTML.
      const key = `${asHtml} ${request.key}`;
      const snippet = states.get(key) ?? { request, asHtml, dueAt: 0 };
      states.set(key, snippet);
      const isNew = !snippet.content && !snippet.error;
      const updated = update(snippet);
      if (isNew || isLast) await updated;
      else updated?.catch(() => {});
      return snippet;
    },

    /** Of what a page shows. It changes when a reader would see a difference. */
    hashOf(snippets: readonly RememberedSnippet[]) {
      const looks = snippets.map(({ request, content, error }) => {
        const look = content ? [content.html, content.text] : !isOutage(error) && failureIdentity(error);
        return [request.key, look];
      });
      const found = digest('sha256', JSON.stringify([styles, looks])).slice(0, 16);
      shown.set(found, { snippets, askedAt: Date.now() });
      return found;
    },

    /** The snippets of pages with a hash; `undefined` after a restart, or 10 minutes after they last asked. */
    shownAs(hash: string) {
      const now = Date.now();
      for (const [key, { askedAt }] of shown) if (now > askedAt + 600_000) shown.delete(key);
      const known = shown.get(hash);
      if (known) known.askedAt = now;
      return known?.snippets;
    },

    /** Every page has to load again: the classes of snippets have new styles. */
    restyle() {
      styles += 1;
    },
  };
}

const isOutage = (error?: SnippetFailure) => error && consequenceOf(error) === 'children';

/** What distinguishes failures. Their sentences count attempts and seconds. */
function failureIdentity(error: SnippetFailure | undefined) {
  if (!(error instanceof SnippetError)) return [error?.code, error?.reason];
  return [error.code, error.status, error.title, error.detail, error.type];
}
