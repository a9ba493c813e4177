import { z } from 'zod';
import { containsKnownKey, hideKnownKeys } from '../../client/api-key.ts';
import { cleanText } from '../../client/clean-text.ts';
import type { Settings } from '../../settings/settings.ts';
import { editUrlOf } from '../../settings/settings.ts';
import { type HotChannel, listener } from '../page-messages.ts';
import type { ServedPages, ShownOnPage } from '../served-pages.ts';
import type { SnippetMemory } from '../snippet-memory.ts';
import { asViewFailure } from '../view.ts';
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
  pages: ServedPages;
  settings(): Pick<Settings, 'editUrl'>;
  /** Fetches the snippets of collections again. */
  refreshCollections(): Promise<void> | undefined;
  /** Called with what goes wrong, not safe for a terminal yet. */
  warn(line: string): void;
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
}: ToolbarServer): void {
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
    const snippets = [...pages.shownOn(page).values()].map((one) => ({
      ...describe(one),
      editUrl: editLinkOf(one.snippet.request.id),
    }));
    hot.send(events.snippets, withoutKey<SnippetsMessage>({ page, snippets }));
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
    sendSnippets(page);
    client.send(events.done, withoutKey(done));
  });
}

/** Hides the API key, which a name or a content of the service might contain. */
function withoutKey<Message>(message: Message): Message {
  const json = JSON.stringify(message);
  if (!containsKnownKey(json)) return message;
  return JSON.parse(json, (_, value) => (typeof value === 'string' ? hideKnownKeys(value) : value));
}

function describe({ snippet, isOptional }: ShownOnPage): ShownSnippet {
  const { request, content, milliseconds, checkedAt, error } = snippet;
  const { key, id, params } = request;
  return {
    key,
    id,
    name: content?.name && cleanText(content.name),
    // As they are, since the toolbar copies them into an embed. They hold no key: that is refused.
    params,
    optional: isOptional,
    variant: content?.variant,
    milliseconds,
    bytes: content && Buffer.byteLength(content.content),
    checkedAt,
    error: error?.message,
  };
}
