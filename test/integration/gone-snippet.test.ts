import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { collectionOf, pageWith } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

const { service, site } = await builtSite(
  { 1: '<b>one</b>', 2: 'two', 3: 'three' },
  {
    'src/pages/index.astro': pageWith('<p><Snippet id={1} /><Snippet id={2} /></p>'),
    'src/pages/other.astro': pageWith('<p><Snippet id={1} /><Snippet id={1} params={{ plan: "pro" }} /></p>'),
    'src/content.config.ts': collectionOf('texts', '{ banner: { id: 3 } }'),
    'src/pages/entry.json.ts': `import { getEntry } from 'astro:content';
export const GET = async () => Response.json((await getEntry('texts', 'banner')).data.content);`,
  },
);
const advice = 'if it is gone for good, remove it; if it comes and goes, write `optional`.';

test('a check, a refresh and the next build say of a snippet that is gone where it was', async () => {
  service.unpublish(1);
  for (const command of ['check', 'refresh']) {
    const output = await exits(1, cli(site.directory, [command], service.environment));
    expect(output, command).toContain(`It was on 2 pages in the last build: ${advice}`);
  }
  await site.write({ 'src/pages/new.astro': pageWith('<p><Snippet id={999} /></p>') });
  const output = await exits(1, site.build());
  expect(output).toContain(`It was on 2 pages in the last build: ${advice}`);
  // Snippet 1 with two params was there, and 999 never.
  expect(output.match(/It was on/g)).toHaveLength(2);
  expect(output).toMatch(
    /Snippet 999: 404 Not Found \[not-found\]\n(?: {4}.*\n){2} {4}on new\/index\.html\n {4}written in/,
  );
});

test('a build says so of an entry of a collection, too', async () => {
  service.put(1, '<b>one</b>');
  service.put(999, 'new');
  await site.builds();
  service.unpublish(3);
  expect(await exits(1, site.build())).toContain(`It was on 1 place in the last build: ${advice}`);
});
