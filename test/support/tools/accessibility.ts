import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The accessibility violations that axe finds on a page, one per line. */
export async function violationsOf(page: Page): Promise<string> {
  // The page's policy could block a script tag, but not this script.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`).join('\n');
}
