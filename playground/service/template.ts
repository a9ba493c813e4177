import { Liquid } from 'liquidjs';

const engine = new Liquid({
  // A variable's value is text and is escaped. For HTML, an editor writes `| raw`.
  outputEscape: 'escape',
  // Templates come from editors: no files, no prototypes, and no endless loops.
  templates: {},
  ownPropertyOnly: true,
  parseLimit: 1_000_000,
  renderLimit: 250,
  memoryLimit: 5_000_000,
});

/**
 * Fills a snippet's variables. Variables without a value are empty, unused values are ignored (specification, section 4.2).
 *
 * @returns the content, or an error for the editor of the snippet
 */
export async function renderTemplate(template: string, params: Record<string, unknown>) {
  try {
    const content: string = await engine.parseAndRender(template, params);
    return { content };
  } catch (error) {
    return { error: explain((error as Error).message) };
  }
}

/** The variables of a template without a value in these params. */
export function unfilledVariables(content: string, params: Record<string, unknown>): string[] {
  return engine.globalVariablesSync(engine.parse(content)).filter((name) => !Object.hasOwn(params, name));
}

// Liquid's messages, and what an editor can do about them.
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
