import { html } from 'hono/html';
import { limits } from '../limits.ts';
import { parseParams } from '../schemas.ts';
import type { Typed } from '../store/snippets.ts';
import { variablesOf } from '../template.ts';
import { field } from './layout.ts';
import type { Html } from './page-facts.ts';

/** What the names of the controls for variables begin with. */
const prefix = 'value-';

/** A value as its field shows it; `undefined` if only JSON can show it. */
const textOf = (value: unknown = ''): string | undefined =>
  typeof value === 'object' ? undefined : String(value);

/** The fields for the variables of a draft and its sample params. */
export function valueFields({ draft, sample }: Pick<Typed, 'draft' | 'sample'>): Html {
  const values = parseParams(sample) ?? {};
  const names = new Set([...variablesOf(draft), ...Object.keys(values)]);
  return html`${[...names].map((name) => {
    const text = textOf(Object.hasOwn(values, name) ? values[name] : undefined);
    // Parts of an object, such as `user.name`, are written as JSON, too.
    if (text === undefined || !/^[\w-]+$/.test(name)) return '';
    const id = prefix + name;
    return field(id, name, html`<input id="${id}" name="${id}" value="${text}" autocomplete="off">`);
  })}`;
}

/** The values that a draft is previewed with: a field for each variable, and JSON for those who ask. */
export function sampleFields(typed: Pick<Typed, 'draft' | 'sample'>): Html {
  const hint = `At most ${limits.sample.toLocaleString('en')} characters. Where a page embeds it, the page passes its own.`;
  return html`<div class="values" role="group" aria-label="Values for the preview" data-values>${valueFields(typed)}</div>
          <details${parseParams(typed.sample) === undefined && html` open`}><summary>Values for the preview, as JSON</summary>
          <input type="hidden" name="sampleBefore" value="${typed.sample}">
          ${field(
            'sample',
            'JSON object',
            html`<textarea rows="2" id="sample" name="sample" spellcheck="false" aria-describedby="sample-hint">
${typed.sample}</textarea>`,
            hint,
          )}</details>`;
}

/** The sample params in the body of a form: the JSON if it was edited, else with what the fields say. */
export function sampleOf(body: Record<string, unknown>): string {
  const [sample, before] = ['sample', 'sampleBefore'].map((name) => `${body[name] ?? ''}`.trim() || '{}');
  const values = parseParams(sample) ?? {};
  const edits = Object.entries(body).flatMap(([key, typed]) => {
    const name = key.slice(prefix.length);
    const old = Object.hasOwn(values, name) ? values[name] : undefined;
    if (!key.startsWith(prefix) || typeof typed !== 'string' || typed === textOf(old)) return [];
    const isNumber = typeof old === 'number' && typed.trim() !== '' && Number.isFinite(Number(typed));
    return [[name, isNumber ? Number(typed) : typed]] as const;
  });
  if (sample !== before || edits.length === 0) return sample ?? '{}';
  const edited = Object.entries({ ...values, ...Object.fromEntries(edits) });
  return JSON.stringify(Object.fromEntries(edited.filter(([, value]) => value !== '')));
}
