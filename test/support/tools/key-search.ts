import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Site } from '../site/site.ts';

/** The key, plain and encoded at any offset of a longer text. */
function formsOf(key: string): string[] {
  const inBase64 = ['', 'x', 'xx'].flatMap((before) => {
    const encoded = Buffer.from(`${before}${key}`).toString('base64');
    const whole = encoded.slice(before.length === 0 ? 0 : before.length + 1, -4);
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [key, encodeURIComponent(key), Buffer.from(key).toString('hex'), ...inBase64];
}

/**
 * Fails if the key is in the log of a build or in a file of its site (output, Astro's caches, sources) other
 * than `.env`.
 */
export async function expectKeyNowhere(
  site: Pick<Site, 'directory' | 'list'>,
  output: string,
  key: string,
): Promise<void> {
  const forms = formsOf(key);
  for (const form of forms) expect(output).not.toContain(form);
  for (const name of await site.list('.')) {
    if (name === '.env') continue;
    const file = await readFile(join(site.directory, name));
    for (const form of forms) expect(file.includes(form), name).toBe(false);
  }
}
