import { html } from 'hono/html';
import type { Html } from './page-facts.ts';
import type { Finding } from './publish-checks.ts';

/** What is wrong with a draft, line by line. */
export function findingsList(findings: readonly Finding[]): Html | '' {
  if (findings.length === 0) return '';
  return html`<ul class="findings">${findings.map(
    ({ line, flaw, severity }) =>
      html`<li><span class="badge ${severity === 'note' ? 'warn' : 'bad'}">${
        line === undefined ? 'The content' : `Line ${line}`
      }</span> ${flaw}</li>`,
  )}</ul>`;
}

/** Asks before something is published that would break pages. The notice has the focus: the button may be far below. */
export function breakingNotice(findings: readonly Finding[]): Html {
  return html`<div class="card notice bad" role="alert" tabindex="-1" autofocus>
          <p><strong>Not published yet: this would break the pages that show it.</strong></p>
          ${findingsList(findings.filter(({ severity }) => severity === 'breaks'))}
          <button class="danger" form="edit" name="action" value="publish-anyway">Publish it anyway</button>
        </div>`;
}
