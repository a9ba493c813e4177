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

/** A filled template, or why it could not be filled. */
export interface RenderedTemplate {
  content?: string;
  /** An error for the editor of the snippet. */
  error?: string;
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
    return { error: explain((error as Error).message) };
  }
}

/** The variables of a template without a value in these params. */
export function unfilledVariables(content: string, params: Record<string, unknown>): string[] {
  return engine.globalVariablesSync(engine.parse(content)).filter((name) => !Object.hasOwn(params, name));
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

function explain(message: string): string {
  const [, reason = message, line] = /^(.*), line:(\d+), col:\d+$/s.exec(message) ?? [];
  const [pattern, explanation] = explanations.find(([pattern]) => pattern.test(reason)) ?? [];
  const text = explanation?.(pattern?.exec(reason)?.[1]?.trim() ?? '') ?? reason;
  return line === undefined ? text : `line ${line}: ${text}`;
}
