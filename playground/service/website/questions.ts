import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Website, WebsiteEnvironment } from './environment.ts';
import type { Html } from './page-facts.ts';

/** A question, and what an answer does. */
interface Question {
  title: string;
  /** The consequences of the answer. */
  body: Html;
  /** The label of the button. */
  yes: string;
  /** The value that confirms. @default 'yes' */
  confirm?: string;
  /** The target of "Cancel", and of the redirect when done, unless `afterwards` is set. */
  back: string;
  /** The target of the redirect when done. */
  afterwards?: string;
  /** Does what was confirmed. */
  act: () => void;
}

/**
 * A page that asks for a confirmation, and acts on the answer. Without a question, the page does not exist.
 */
export function ask(
  pages: Website,
  path: string,
  questionOf: (context: Context<WebsiteEnvironment>) => Question | undefined,
): void {
  pages.on(['GET', 'POST'], path, async (context) => {
    const question = questionOf(context);
    if (question === undefined) return context.notFound();
    const { title, body, yes, confirm = 'yes', act, back, afterwards = back } = question;
    const answer = context.req.method === 'POST' ? await context.req.parseBody() : {};
    if (answer['confirm'] === confirm) {
      act();
      return context.redirect(afterwards, 303);
    }
    const page = html`<h1>${title}</h1>
      <div class="card notice bad">${body}</div>
      <form class="row" method="post">
        <input type="hidden" name="confirm" value="${confirm}">
        <button class="danger">${yes}</button>
        <a class="button quiet" href="${back}">Cancel</a>
      </form>`;
    return context.render(page, { title });
  });
}
