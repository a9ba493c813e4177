import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { siteOf, typedLanguages } from '../../docs/examples.ts';
import { codeBlocks, pages } from '../../docs/pages.ts';
import { temporarySite } from '../../support/site/site.ts';

test('every ts, tsx, js and astro block in the docs passes astro check', async () => {
  const { files, places } = siteOf(
    pages.flatMap(codeBlocks).filter(({ language }) => typedLanguages.has(language)),
  );
  const site = await temporarySite(files);
  const { exitCode, output } = await site.start(['check', '--minimumSeverity', 'error']).ended;
  const text = stripVTControlCharacters(output);
  const errors = Array.from(text.matchAll(/^(src\/\S+?):\d+:\d+ - error.*$/gm), ([line, file = '']) =>
    line.replace(file, `${places.get(file) ?? file} (${file})`),
  );
  expect(errors).toEqual([]);
  expect(exitCode, text).toBe(0);
  expect(text).toContain('- 0 errors');
});
