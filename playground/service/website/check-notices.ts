import { html } from 'hono/html';
import type { ShownPlaces } from '../publisher.ts';
import type { Html } from './page-facts.ts';
import { pathOfPage } from './places.ts';
import type { Finding } from './publish-checks.ts';

/** What is wrong with a draft, line by line. */
export function findingsList(findings: readonly Finding[]): Html | '' {
  if (findings.length === 0) return '';
  return html`<ul class="findings">${findings.map(
    ({ line, flaw, severity }) =>
      html`<li>${lineBadge(line, severity === 'note' ? 'warn' : 'bad')} ${flaw}</li>`,
  )}</ul>`;
}

/** What the site has warned of since it shows a snippet, with the line of each. */
export function warningsList({ warnings }: ShownPlaces): Html | '' {
  if (warnings.length === 0) return '';
  return html`<ul class="findings">${warnings.map(
    ({ line, message, hint, pages }) =>
      html`<li>${lineBadge(line, 'bad')} ${message} ${hint} ${
        pages.length > 0 && `It is on ${listPaths(pages)}.`
      }</li>`,
  )}</ul>`;
}

const maxPaths = 3;

function listPaths(pages: readonly string[]): string {
  const more = pages.length - maxPaths;
  const listed = pages.slice(0, maxPaths).map(pathOfPage).join(', ');
  return more > 0 ? `${listed} and ${more} more` : listed;
}

const lineBadge = (line: number | undefined, kind: string) =>
  html`<span class="badge ${kind}">${line === undefined ? 'The content' : `Line ${line}`}</span>`;

/** Asks before something is published that would break pages. The notice has the focus: the button may be far below. */
export function breakingNotice(findings: readonly Finding[]): Html {
  return html`<div class="card notice bad" role="alert" tabindex="-1" autofocus>
          <p><strong>Not published yet: this would break the pages that show it.</strong></p>
          ${findingsList(findings.filter(({ severity }) => severity === 'breaks'))}
          <button class="danger" form="edit" name="action" value="publish-anyway">Publish it anyway</button>
        </div>`;
}
