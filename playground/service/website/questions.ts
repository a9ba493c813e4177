import type { Context } from 'hono';
import { html } from 'hono/html';
import type { Website, WebsiteEnvironment } from './environment.ts';
import type { Html } from './layout.ts';

interface Question {
  title: string;
  /** What happens then. */
  body: Html;
  /** What the button says. */
  yes: string;
  /** Sent with the answer. @default 'yes' */
  confirm?: string;
  /** Where "Cancel" leads, and where to go when it is done, unless `afterwards` is there. */
  back: string;
  afterwards?: string;
  act: () => void;
}

/**
 * Asks at a path before something is done that others may not expect, and does it when the answer is there. Where there
 * is nothing to ask, there is no such page.
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
