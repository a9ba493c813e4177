import { z } from 'zod';
import { containsKnownKey, hideKnownKeys } from '../../client/api-key.ts';
import { cleanText } from '../../client/clean-text.ts';
import type { Settings } from '../../settings/settings.ts';
import { editUrlOf } from '../../settings/settings.ts';
import type { OpenPages } from '../open-pages.ts';
import { type HotChannel, listener } from '../page-messages.ts';
import type { RememberedSnippet, SnippetMemory } from '../snippet-memory.ts';
import { asViewFailure } from '../view-failure.ts';
import {
  type DoneMessage,
  events,
  type ListMessage,
  type ShownSnippet,
  type SnippetMessage,
  type SnippetsMessage,
} from './messages.ts';

/** What the toolbar needs of the dev server. */
export interface ToolbarServer {
  hot: HotChannel;
  memory: SnippetMemory;
  pages: OpenPages;
  settings(): Pick<Settings, 'editUrl'>;
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

/** Answers the messages of the toolbar app. */
export function serveToolbar({
  hot,
  memory,
  pages,
  settings,
  refreshCollections,
  warn,
}: ToolbarServer): Toolbar {
  const withoutLink = new Set<number>();
  /** A snippet without a link can still be worked on, so what a build with `editLinks` fails for is a warning. */
  const editLinkOf = (id: number) => {
    const { editUrl } = settings();
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
  listen<ListMessage>(events.list, listSchema, ({ page }) => sendSnippets(page));
  listen<SnippetMessage>(events.refresh, snippetSchema, async ({ page, key }, client) => {
    const done: DoneMessage = { page, key };
    try {
      await Promise.all([memory.update(key), refreshCollections()]);
    } catch (error) {
      done.error = asViewFailure(error).message;
    }
    update(key);
    client.send(events.done, withoutKey(done));
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
  };
}
