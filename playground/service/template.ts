import { Liquid } from 'liquidjs';

const engine = new Liquid({
  // A variable's value is text, and becomes HTML by being escaped. An editor who means HTML writes `| raw`.
  outputEscape: 'escape',
  // Templates come from people who edit texts: no files, no prototypes, and no template that never ends.
  templates: {},
  ownPropertyOnly: true,
  parseLimit: 1_000_000,
  renderLimit: 250,
  memoryLimit: 5_000_000,
});

/**
 * Fills a snippet's variables. One that has no value is empty; a value that no variable uses is ignored
 * (specification, section 4.2).
 *
 * @returns the content, or an error for the person who edits the snippet
 */
export async function renderTemplate(template: string, params: Record<string, unknown>) {
  try {
    const content: string = await engine.parseAndRender(template, params);
    return { content };
  } catch (error) {
    return { error: explain((error as Error).message) };
  }
}

/** The variables of a template that these params have no value for. */
export function unfilledVariables(content: string, params: Record<string, unknown>): string[] {
  return engine.globalVariablesSync(engine.parse(content)).filter((name) => !Object.hasOwn(params, name));
}

// What Liquid says, and what a person who writes texts can do about it.
const explanations: readonly [said: RegExp, explain: (written: string) => string][] = [
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

function explain(message: string): string {
  const [, said = message, line] = /^(.*), line:(\d+), col:\d+$/s.exec(message) ?? [];
  const found = explanations.find(([pattern]) => pattern.test(said));
  const text = found === undefined ? said : found[1](found[0].exec(said)?.[1]?.trim() ?? '');
  return line === undefined ? text : `line ${line}: ${text}`;
}
