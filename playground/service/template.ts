import { Liquid, type LiquidOptions } from 'liquidjs';

const options: LiquidOptions = {
  // A variable's value is text and is escaped. For HTML, an editor writes `| raw`.
  outputEscape: 'escape',
  // Templates come from editors: no files, no prototypes, and no endless loops.
  templates: {},
  ownPropertyOnly: true,
  parseLimit: 1_000_000,
  renderLimit: 250,
  memoryLimit: 5_000_000,
};
const engine = new Liquid(options);

/** A filled template, or why it could not be filled. */
export interface RenderedTemplate {
  content?: string;
  /** An error for the editor of the snippet. */
  error?: string;
  /** The line of the error, from 1. */
  line?: number;
}

/**
 * Fills a snippet's variables. Variables without a value are empty, unused values are ignored (specification,
 * section 4.2).
 */
export async function renderTemplate(
  template: string,
  params: Record<string, unknown>,
): Promise<RenderedTemplate> {
  try {
    const content: string = await engine.parseAndRender(template, params);
    return { content };
  } catch (error) {
    return explain((error as Error).message);
  }
}

/** A name in a template that nothing is known by. */
export interface UnknownName {
  kind: 'filter' | 'variable';
  name: string;
  /** The line of the template, from 1. */
  line: number;
}

/** The most names that are looked for: a template is rendered once for each. */
const maxNames = 20;

/**
 * Finds filters that do not exist, and variables that would be filled and have no value in these params. A
 * variable with a `default`, or one that is only asked for with `if`, needs none.
 */
export async function unknownNames(
  template: string,
  params: Record<string, unknown>,
): Promise<UnknownName[]> {
  const strict = new Liquid({ ...options, strictFilters: true, strictVariables: true, lenientIf: true });
  const filled = structuredClone(params);
  const found: UnknownName[] = [];
  while (found.length < maxNames) {
    // The engine ends at the first unknown name, so that each is made known before the next attempt.
    const message = await strict.parseAndRender(template, filled).then(
      () => '',
      (error: Error) => error.message,
    );
    const [, kind, name = '', line] = /^undefined (filter|variable): (.+), line:(\d+)/.exec(message) ?? [];
    if (kind === undefined || found.some((other) => other.kind === kind && other.name === name)) break;
    found.push({ kind: kind as UnknownName['kind'], name, line: Number(line) });
    if (kind === 'filter') strict.registerFilter(name, (value) => value);
    else fill(filled, name.split('.'));
  }
  // A part of an unknown variable is not named beside it.
  return found.filter(({ name }) => !found.some((other) => name.startsWith(`${other.name}.`)));
}

function fill(params: Record<string, unknown>, [name = '', ...rest]: string[]): void {
  const value = params[name];
  params[name] = rest.length === 0 ? '' : (typeof value === 'object' && value) || {};
  if (rest.length > 0) fill(params[name] as Record<string, unknown>, rest);
}

/** The names of the variables of a template; none if it cannot be parsed. */
export function variablesOf(template: string): string[] {
  try {
    return engine.globalFullVariablesSync(engine.parse(template));
  } catch {
    return [];
  }
}

/** A filled template, and which line of the template each part of it comes from. */
export interface TracedTemplate {
  content: string;
  /** The line of the template, from 1, that an offset in the content comes from. */
  lineOf(offset: number): number;
}

/** Fills a template that has no syntax error, and traces its lines. */
export async function traceTemplate(
  template: string,
  params: Record<string, unknown>,
): Promise<TracedTemplate> {
  // Each line begins with its number, between characters that stand for nothing.
  let line = 0;
  const numbered = template.replace(/\{\{.*?\}\}|\{%.*?%\}|^/gms, (tag, offset: number) => {
    const isStart = offset === 0 || template[offset - 1] === '\n';
    if (isStart) line += 1;
    const mark = isStart ? `\uE000${line}\uE001` : '';
    line += tag.split('\n').length - 1;
    return mark + tag;
  });
  const { content: rendered = '' } = await renderTemplate(numbered, params);
  const starts: { offset: number; line: number }[] = [];
  let removed = 0;
  const content = rendered.replace(/\uE000(\d+)\uE001/g, (mark, number: string, offset: number) => {
    starts.push({ offset: offset - removed, line: Number(number) });
    removed += mark.length;
    return '';
  });
  return { content, lineOf: (offset) => starts.findLast((start) => start.offset <= offset)?.line ?? 1 };
}

/** Liquid's messages, and what an editor can do about them. */
const explanations: readonly [message: RegExp, explain: (written: string) => string][] = [
  [/^output "(.*)" not closed$/s, (written) => `\`${written}\` is not closed. Add \`}}\`.`],
  [/^tag "(.*)" not closed$/s, (written) => `\`${written}\` is not closed. Add \`%}\`.`],
  [
    /^tag (.*) not closed$/s,
    (written) => `\`${written}\` has no end. Add \`{% end${/\w+/.exec(written)?.[0]} %}\`.`,
  ],
  [/^tag "end(\w+)" not found$/, (name) => `\`{% end${name} %}\` ends nothing. Remove it.`],
  [/^tag "(.*)" not found$/, (name) => `\`{% ${name} %}\` is not known. Check how it is written.`],
  [/^invalid value expression/, () => 'A variable is missing. Write its name.'],
];

function explain(message: string): RenderedTemplate {
  const [, reason = message, line] = /^(.*), line:(\d+), col:\d+$/s.exec(message) ?? [];
  const [pattern, explanation] = explanations.find(([pattern]) => pattern.test(reason)) ?? [];
  const text = explanation?.(pattern?.exec(reason)?.[1]?.trim() ?? '') ?? reason;
  return line === undefined ? { error: text } : { error: `line ${line}: ${text}`, line: Number(line) };
}
