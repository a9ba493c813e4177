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

/** A snippet that cannot be rendered. The message is for the person who edits it. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/**
 * Fills a snippet's variables. One that has no value is empty; a value that no variable uses is ignored
 * (specification, section 4.2).
 *
 * @throws TemplateError
 */
export async function renderTemplate(content: string, params: Record<string, unknown>): Promise<string> {
  try {
    return await engine.parseAndRender(content, params);
  } catch (error) {
    throw new TemplateError((error as Error).message);
  }
}
