import type { HookParameters } from 'astro';
import { z } from 'zod';
import { dataId } from '../build/edit-links/edit-links.ts';
import { reasonOf } from '../client/clean-text.ts';

/** The messages between the dev server and its pages. None contains the API key. */
export const pageEvents = {
  /** From a page: has it changed? Data: {@link askSchema}. */
  ask: 'astro-snippets:ask',
  /** The answer if it has. Data: {@link ChangedMessage}. */
  changed: 'astro-snippets:changed',
  /** From the toolbar: fetch the snippets of the page again now, and all of collections. Data: {@link askSchema}. */
  refresh: 'astro-snippets:refresh',
  /** The answer when that is done. Data: {@link DoneMessage}. */
  done: 'astro-snippets:done',
};

export const askSchema = z.object({
  page: z.string(),
  /** Of what it shows; absent if it shows no snippets. */
  hash: z.string().optional(),
});

export type AskMessage = z.infer<typeof askSchema>;

export interface ChangedMessage {
  page: string;
}

export interface DoneMessage extends ChangedMessage {
  /** Why nothing has changed. */
  error?: string;
}

export type HotChannel = HookParameters<'astro:server:setup'>['server']['environments']['client']['hot'];

/** The part of Vite's client that is used, whose type it does not export by name. */
export interface Client {
  send(event: string, payload: object): void;
}

/** Answers messages of pages. */
export type Listen = <Message>(
  event: string,
  schema: z.ZodType<Message>,
  answer: (message: Message, client: Client) => Promise<void> | void,
) => void;

/**
 * Returns a function that listens to messages of pages. What the schema does not accept is ignored: it was not sent by
 * this package. Whatever fails is a warning, since an error in a handler of Vite's would end the dev server.
 */
export function listener(hot: HotChannel, warn: (line: string) => void): Listen {
  return (event, schema, answer) => {
    hot.on(event, async (data: unknown, client: Client) => {
      try {
        const { data: message } = schema.safeParse(data);
        if (message !== undefined) await answer(message, client);
      } catch (error) {
        warn(`The message ${event} of a page could not be answered: ${reasonOf(error)}`);
      }
    });
  };
}

/**
 * The script of each page of the dev server: it asks whether the page has changed, and loads it again. Only a page that
 * somebody sees asks.
 *
 * @param hot JavaScript for the page's connection to Vite.
 */
export function pageScript(hot: string): string {
  return `
const ask = () => {
  if (document.visibilityState !== 'visible') return;
  const hash = document.querySelector('script#${dataId}')?.dataset.hash;
  ${hot}.send('${pageEvents.ask}', { page: location.pathname, hash });
};
${hot}.on('${pageEvents.changed}', ({ page }) => {
  if (page === location.pathname) location.reload();
});
document.addEventListener('visibilitychange', ask);
setInterval(ask, 2000);
ask();
`;
}
