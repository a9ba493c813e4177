import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { servedSite } from '../../support/site/built-site.ts';
import { byAstro } from '../../support/site/installation.ts';

const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;
const stream = (type: string, prefix: string) => `
  export const GET = () => new Response(new ReadableStream({
    async start(controller) {
      const send = (text) => controller.enqueue(new TextEncoder().encode(text));
      send('${prefix}first ${embed(1)}\\n\\n');
      await new Promise((resolve) => { globalThis.release = resolve; });
      send('${prefix}second\\n\\n');
      controller.close();
    },
  }), { headers: { 'content-type': '${type}' } });`;

const { service, site, dev } = await servedSite(
  { 1: '<b>"one" & more</b>', 2: 'two' },
  {
    'src/pages/data.json.ts': `export const GET = () => Response.json({ html: '<p>${embed(1)}</p>' });`,
    'src/pages/wrong.json.ts': `export const GET = () => Response.json({ html: '<p>${embed(404)}</p>' });`,
    'src/pages/llms.txt.ts': `export const GET = () => new Response('# Site\\n\\n${embed(2)}\\n\\n\`${embed(2)}\`\\n');`,
    'public/copied.txt': `Copied: ${embed(2)}\n`,
    'public/app.js.map': JSON.stringify({ version: 3, sourcesContent: [embed(1)] }),
    'src/pages/stream.ts': stream('text/plain; charset=utf-8', ''),
    'src/pages/events.ts': stream('text/event-stream', 'data: '),
    'src/pages/release.ts': `export const GET = () => { globalThis.release(); return new Response('released'); };`,
    'src/embed.ts': `/* ${embed(1)} */\nexport const name = 'snippet-embed';`,
    'src/data.json': `{ "html": "${embed(1).replaceAll('"', '\\"')}" }`,
    'src/pages/index.astro': `<html><body><script>import { name } from '../embed'; console.log(name);</script></body></html>`,
  },
);

const text = async (path: string) => (await fetch(dev.url + path)).text();

test('a JSON endpoint shows snippets and stays JSON', async () => {
  const response = await fetch(`${dev.url}/data.json`);
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(await response.json()).toEqual({ html: '<p><b>"one" & more</b></p>' });
});

test('llms.txt and a text file of public/ show snippets, and examples in them stay', async () => {
  expect(await text('/llms.txt')).toBe(`# Site\n\ntwo\n\n\`${embed(2)}\`\n`);
  expect(await text('/copied.txt')).toBe('Copied: two\n');
});

test('the first reload of a text shows what has been published since', async () => {
  expect(await text('/copied.txt')).toBe('Copied: two\n');
  service.put(2, 'new');
  await setTimeout(2_000);
  expect(await text('/copied.txt')).toBe('Copied: new\n');
  service.put(2, 'two');
});

test.each(['/stream', '/events'])('%s streams', async (path) => {
  const response = await fetch(dev.url + path);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  // The rest is sent after this has arrived.
  expect((await reader?.read())?.value).toContain('first <snippet-embed');
  expect(await text('/release')).toBe('released');
  expect((await reader?.read())?.value).toContain('second');
  expect((await reader?.read())?.done).toBe(true);
});

test('an embed in JSON that fails is an error page with status 500', async () => {
  const response = await fetch(`${dev.url}/wrong.json`);
  expect(response.status).toBe(500);
  expect(response.headers.get('content-type')).toContain('text/html');
  const page = await response.text();
  expect(page).toContain('Snippet 404: 404 Not Found');
  expect(page).toContain('on /wrong.json');
});

test('the modules and source maps that Vite serves are left as they are', async () => {
  const page = await text('/');
  const script = /<script type="module" src="(\/src\/pages\/index\.astro[^"]+)"/.exec(page)?.[1] ?? '';
  expect(await text(script.replaceAll(/&(?:amp|#38);/g, '&'))).toContain('/src/embed.ts');
  // Vite removes the comment before Astro 7.
  const written = 'export const name = "snippet-embed"';
  expect(await text('/src/embed.ts')).toContain(byAstro({ 5: written, 6: written, 7: embed(1) }));
  expect(await text('/app.js.map')).toContain('snippet-embed');
  expect(await text('/@vite/client')).toContain('createHotContext');
  expect(await text(`/@fs${site.directory}/src/data.json`)).toContain('snippet-embed');
});
