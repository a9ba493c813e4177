import type { HookParameters } from 'astro';
import type { z } from 'zod';

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
        const reason = error instanceof Error ? error.message : 'it threw no error';
        warn(`The message ${event} of a page could not be answered: ${reason}`);
      }
    });
  };
}
