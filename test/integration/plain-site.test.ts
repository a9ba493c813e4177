import { expect, test } from 'vitest';
import { fileSite } from '../support/site/built-site.ts';
import { exits } from '../support/tools/exits.ts';

const page = '<html><body><p>No embed in here.</p></body></html>';
// Fails the build as soon as one of these is loaded.
const guard = `
import { registerHooks } from 'node:module';
const unneeded = /dist\\/(?:client\\/(?:transport\\/https|snippet-client|scheduling\\/scheduler)|snippets\\/(?:snippet-fetcher|answers)|inlining\\/inline-(?:page|site)|record\\/(?:manifest-file|manifest|pack))\\.js/;
registerHooks({
  load(url, context, next) {
    if (unneeded.test(url)) throw new Error('Not needed, but loaded: ' + url);
    return next(url, context);
  },
});
`;

const site = await fileSite({ 'src/pages/index.html': page, 'guard.mjs': guard });

test('a site without embeds loads neither the client nor the inlining code, and leaves no manifest', async () => {
  // In its own process: the shared one has loaded them already.
  const output = await exits(0, site.start(['build'], { NODE_OPTIONS: '--import ./guard.mjs' }).ended);
  expect(output).not.toContain('Not needed, but loaded');
  expect(await site.list('node_modules')).not.toContainEqual(expect.stringContaining('manifest.json'));
});

test('a site without embeds fails if the key is in its output, and the file is removed', async () => {
  await site.write({ 'public/notes.txt': 'sk_of_this_test' });
  const output = await exits(1, site.build({ SNIPPETS_API_KEY: 'sk_of_this_test' }));
  expect(output).toContain('The API key was found in notes.txt.');
  expect(await site.list()).not.toContain('notes.txt');
  await site.write({ 'public/notes.txt': '' });
});

test('a site without known embeds is searched for others', async () => {
  await site.write({
    'public/last.html': page.replace('</p>', '<snippet-embed id="1"></snippet-embed></p>'),
  });
  expect(await exits(1, site.build({ SNIPPETS_API_KEY: '' }))).toContain(
    'SNIPPETS_API_KEY is not set: it is empty, which',
  );
  expect(await site.list()).not.toContain('last.html');
});
