import { runsAsUrl } from '../embed/syntax.ts';
import { SiteError } from '../failures/errors.ts';
import { listNames } from '../failures/places.ts';
import type { ContentFlaw } from '../failures/snippet-warning.ts';
import type { HtmlRules, ScriptRule } from '../settings/options.ts';
import { lineAt } from '../text/line-numbers.ts';

/** Whether scripts in snippets stay as they are. */
export const letsScriptsRun = (rule: ScriptRule): boolean => rule === 'allow' || rule === 'warn';

/**
 * Allows scripts, refuses content that has any, or removes these, as the option `scripts` says.
 *
 * @throws SiteError `script-refused`
 */
export async function applyScriptRule(
  html: string,
  id: number,
  { scripts }: Pick<HtmlRules, 'scripts'>,
): Promise<string> {
  if (letsScriptsRun(scripts)) return html;
  const { findScripts, stripScripts } = await import('./scripts.ts');

  if (scripts === 'error') {
    const [script] = findScripts(html);
    if (!script) return html;
    throw new SiteError('script-refused', `contains ${script.what}.`, id);
  }

  const stripped = stripScripts(html);
  if (stripped !== undefined) return stripped;
  const reason = 'contains scripts that are nested too deep to be stripped.';
  throw new SiteError('script-refused', reason, id);
}

type ScriptWarnings = Pick<HtmlRules, 'scripts' | 'policy'>;

/** What runs in a snippet, or was removed, if the rule is to warn of that. */
export async function findScriptFlaw(html: string, rules: ScriptWarnings): Promise<ContentFlaw | undefined> {
  const code = scriptWarning(rules);
  if (!code || !mayRun.test(html)) return undefined;
  const { findScripts } = await import('./scripts.ts');
  // What is removed would run in any of the places where content may be put. A warning is about a usual one.
  const found =
    code === 'script-removed' ? findScripts(html) : findScripts(html, ['']).filter(({ runs }) => runs);
  if (found.length === 0) return undefined;

  const what = listNames([...new Set(found.map((script) => script.what))]);
  const line = lineAt(html, Math.min(...found.map(({ start }) => start)));
  return { code, text: `contains ${what}, ${scriptConsequences[code]}`, line };
}

type ScriptWarning = 'script-runs' | 'script-removed';

const scriptConsequences: Readonly<Record<ScriptWarning, string>> = {
  'script-runs': "which runs in browsers. If that is meant, set scripts: 'allow'.",
  'script-removed': "which is removed (scripts: 'strip').",
};

/** The warning that a script in a snippet leads to, if any. On a site with a policy, that decides what may run. */
function scriptWarning({ scripts, policy }: ScriptWarnings): ScriptWarning | undefined {
  if (scripts === 'strip') return 'script-removed';
  return scripts === 'warn' && policy === 'none' ? 'script-runs' : undefined;
}

/** What is wrong with the text of a snippet that is shown as a URL. */
export function urlFlawsOf(text: string, rules: ScriptWarnings): ContentFlaw[] {
  const code = scriptWarning(rules);
  if (!code || !runsAsUrl(text)) return [];
  return [{ code, text: `is shown as a URL, and is a javascript: URL, ${scriptConsequences[code]}` }];
}

/**
 * Matches HTML that may hold inline code: elements, attributes, or what a browser may read as `javascript:`. Any page
 * may have a policy by hand, and most contents need no parser.
 */
export const mayHoldCode: RegExp =
  /<s(?:cript|tyle)|[\s"'/](?:on\w+|style)\s*=|=[\0-\x20"']*(?:j[\t\r\n]*a|[^\0-\x20"'=>]*&)/i;

/** Matches HTML that may hold what runs: inline code, or a page in `srcdoc`. */
const mayRun = new RegExp(`${mayHoldCode.source}|srcdoc|javascript:`, 'i');
