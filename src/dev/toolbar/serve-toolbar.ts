import { z } from 'zod';
import { cleanText } from '../../client/clean-text.ts';
import { containsKnownKey, hideKnownKeys } from '../../client/known-keys.ts';
import type { SnippetRequest } from '../../client/snippet-request.ts';
import { editUrlOf } from '../../settings/edit-url.ts';
import type { Settings } from '../../settings/settings.ts';
import type { OpenPages } from '../open-pages.ts';
import { type HotChannel, listener } from '../page-messages.ts';
import type { RememberedSnippet, SnippetMemory } from '../snippet-memory.ts';
import { parseTried, type Trial } from '../trial.ts';
import { asViewFailure } from '../view-failure.ts';
import {
  type ContentMessage,
  type DoneMessage,
  events,
  type ListMessage,
  type OtherPagesMessage,
  type ShownSnippet,
  type ShownTrial,
  type SnippetMessage,
  type SnippetsMessage,
  type TryMessage,
} from './messages.ts';

/** What the toolbar needs of the run. */
export interface ToolbarRun {
  readonly settings: Settings;
  /** Where the last build showed a snippet, apart from one page. */
  shownElsewhere(request: SnippetRequest, page: string): Promise<Omit<OtherPagesMessage, 'page' | 'key'>>;
}

/** What the toolbar needs of the dev server. */
export interface ToolbarServer {
  hot: HotChannel;
  memory: SnippetMemory;
  pages: OpenPages;
  run: ToolbarRun;
  /** Fetches the snippets of collections again. */
  refreshCollections(): Promise<void> | undefined;
  /** Called with what goes wrong, not safe for a terminal yet. */
  warn(line: string): void;
}

export interface Toolbar {
  /** Sends the snippets of each page that shows this one to its toolbars. */
  update(key: string): void;
}

const listSchema = z.object({ page: z.string() });
const snippetSchema = listSchema.extend({ key: z.string() });
const trySchema = snippetSchema.extend({ kind: z.enum(['text', 'params']), typed: z.string() });

/** Answers the messages of the toolbar app. */
export function serveToolbar({ hot, memory, pages, run, refreshCollections, warn }: ToolbarServer): Toolbar {
  const withoutLink = new Set<number>();
  /** A snippet without a link can still be worked on, so what a build with `editLinks` fails for is a warning. */
  const editLinkOf = (id: number) => {
    const { editUrl } = run.settings;
    try {
      return editUrl && editUrlOf(id, editUrl);
    } catch (error) {
      if (!withoutLink.has(id)) warn(`The dev toolbar shows no link. ${(error as Error).message}`);
      withoutLink.add(id);
      return undefined;
    }
  };
  const sendSnippets = (page: string) => {
    const shown = pages.of(page).flatMap((key) => memory.peek(key) ?? []);
    const snippets = shown.map((one) => ({
      ...describe(one),
      editUrl: editLinkOf(one.request.id),
      optional: pages.isOptional(page, one.request.key),
    }));
    hot.send(events.snippets, withoutKey<SnippetsMessage>({ page, snippets }));
  };
  const update = (key: string) => {
    for (const page of pages.showing(key)) sendSnippets(page);
  };

  const listen = listener(hot, warn);
  /** Says when something is done, or why it could not be. */
  const perform = <Message extends SnippetMessage>(
    event: string,
    schema: z.ZodType<Message>,
    action: (message: Message) => unknown,
  ) => {
    listen(event, schema, async (message, client) => {
      const { page, key } = message;
      const done: DoneMessage = { page, key };
      try {
        await action(message);
      } catch (error) {
        done.error = asViewFailure(error).message;
      }
      update(key);
      client.send(events.done, withoutKey(done));
    });
  };

  listen<ListMessage>(events.list, listSchema, ({ page }) => sendSnippets(page));
  perform<SnippetMessage>(events.refresh, snippetSchema, ({ key }) =>
    Promise.all([memory.update(key), refreshCollections()]),
  );
  perform<TryMessage>(events.try, trySchema, async ({ key, kind, typed }) => {
    const snippet = memory.peek(key);
    if (snippet === undefined) throw new Error('The dev server has restarted. Load the page again.');
    await memory.try(key, parseTried(snippet.request.id, kind, typed));
  });
  perform<SnippetMessage>(events.endTrial, snippetSchema, ({ key }) => memory.endTrial(key));
  listen<SnippetMessage>(events.content, snippetSchema, ({ page, key }, client) => {
    const message: ContentMessage = { page, key, content: memory.peek(key)?.content };
    client.send(events.content, withoutKey(message));
  });
  listen<SnippetMessage>(events.otherPages, snippetSchema, async ({ page, key }, client) => {
    const request = memory.peek(key)?.request;
    if (request === undefined) return;
    const message: OtherPagesMessage = { page, key, ...(await run.shownElsewhere(request, page)) };
    client.send(events.otherPages, withoutKey(message));
  });
  return { update };
}

/** Hides the API key, which a name or a content of the service might contain. */
function withoutKey<Message>(message: Message): Message {
  const json = JSON.stringify(message);
  if (!containsKnownKey(json)) return message;
  return JSON.parse(json, (_, value) => (typeof value === 'string' ? hideKnownKeys(value) : value));
}

function describe({
  request,
  name,
  variant,
  milliseconds,
  content,
  checkedAt,
  error,
  trial,
}: RememberedSnippet): Omit<ShownSnippet, 'optional' | 'editUrl'> {
  const { key, id, params } = request;
  return {
    key,
    id,
    name: name && cleanText(name),
    // As they are, since the toolbar copies them into an embed. They hold no key: that is refused.
    params,
    variant,
    milliseconds,
    bytes: content === undefined ? undefined : Buffer.byteLength(content),
    checkedAt,
    error: error?.message,
    trial: trial && describeTrial(trial),
  };
}

function describeTrial({ tried, warnings, error }: Trial): ShownTrial {
  return {
    kind: tried.kind,
    tried: tried.kind === 'text' ? tried.text : tried.request.params,
    warnings,
    error: error?.message,
  };
}
