import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesAt, type RenderedRoute, routeFiles } from '../../src/settings/route-files.ts';
import type { SiteUrls } from '../../src/settings/site-urls.ts';
import { sharedService } from '../support/site/built-site.ts';
import { astroVersion, byAstro, isFirstOfMajor } from '../support/site/installation.ts';
import { csp, staticHeaders } from '../support/site/policy.ts';
import { temporarySite } from '../support/site/site.ts';

type Format = SiteUrls['format'];

test.for<[string, RenderedRoute['type'], Format, string[]]>([
  ['/', 'page', 'directory', ['index.html']],
  ['', 'page', 'file', ['index.html']],
  ['/docs/', 'page', 'directory', ['docs/index.html']],
  ['/docs', 'page', 'file', ['docs.html']],
  ['/docs', 'page', 'preserve', ['docs/index.html', 'docs.html']],
  ['/docs', 'endpoint', 'directory', ['docs']],
  ['/404', 'page', 'directory', ['404/index.html', '404.html']],
  ['/de/404', 'fallback', 'directory', ['de/404/index.html']],
  ['/about.html', 'page', 'directory', ['about.html/index.html']],
  ['/about.html', 'endpoint', 'preserve', ['about.html']],
  ['/q%3Fx', 'page', 'file', ['q%3Fx.html']],
])('the route %j of type %s is with build.format %j in %j', ([path, type, format, files]) => {
  expect(routeFiles({ path, type }, format)).toEqual(files);
});

test.for<[string, Format, string[]]>([
  ['/base', 'directory', ['index.html']],
  ['/base/', 'file', ['index.html']],
  ['/base/base/', 'directory', ['base', 'base/index.html']],
  ['/base/index.html', 'file', ['index.html', 'index.html.html']],
  ['/base/about/', 'preserve', ['about', 'about/index.html', 'about.html']],
  ['/basement/', 'directory', ['basement', 'basement/index.html']],
  ['/base/caf%C3%A9', 'file', ['café', 'café.html', 'caf%C3%A9', 'caf%C3%A9.html']],
  ['/base/100%/', 'directory', ['100%', '100%/index.html', '100%25', '100%25/index.html']],
  ['/base/100%%C3%BC', 'file', ['100%ü', '100%ü.html', '100%%C3%BC', '100%%C3%BC.html']],
  ['/base/q%3Fx/', 'file', ['q%3Fx', 'q%3Fx.html', 'q%253Fx', 'q%253Fx.html']],
])('the path %s is with build.format %j served from %j', ([path, format, files]) => {
  expect(filesAt(path, { base: '/base', format })).toEqual(files);
});

const page = (code = '') => `---
import { Snippet } from 'astro-snippets/components';
${code}
const { pathname } = Astro.url;
Astro.response.headers.set('x-url', pathname);
---
<html><head><title>page</title></head><body data-url={pathname}><Snippet id={1} params={{ page: pathname }} /></body></html>`;

const endpoint = (code = '') => `${code}
export const GET = ({ url }) => new Response(JSON.stringify({ 'data-url': url.pathname }), { headers: { 'x-url': url.pathname } });`;

/** @param slugs source code */
const paths = (slugs: string) =>
  `export const getStaticPaths = () => [${slugs}].map((slug) => ({ params: { slug } }));`;

/** Pages and endpoints whose paths a careless function would take for others. */
const files = {
  'src/pages/index.astro': page(),
  // The base of half of the sites is `/docs`.
  'src/pages/docs.astro': page(),
  'src/pages/docs/intro.astro': page(),
  'src/pages/docs/docs/index.astro': page(),
  'src/pages/docs/feed.xml.ts': endpoint(),
  'src/pages/guide/index.astro': page(),
  'src/pages/about.html.astro': page(),
  'src/pages/404.astro': page(),
  'src/pages/500.astro': page(),
  'src/pages/tags/[...slug].astro': page(
    // Astro 5 and 6 cannot show "100%" in another language, and 7.0 cannot show it at all.
    paths(
      `undefined, 'v1.2', ${isFirstOfMajor ? "'100'" : byAstro({ 5: "'100'", 6: "'100'", 7: "'100%'" })}, 'ü', 'a b', 'docs', 'q?x', 'h#y'`,
    ),
  ),
  'src/pages/api.ts': endpoint(),
  'src/pages/[slug].json.ts': endpoint(paths("'docs', 'ü b'")),
};

/** What Astro passed to adapters: the path and the type of a route, its URL, and its policy. */
type PassedHeaders = [path: string, type: RenderedRoute['type'], url: string | null, policy: string | null];

const config = ({ base, trailingSlash, format }: Pick<SiteUrls, 'base' | 'trailingSlash' | 'format'>) => `
import { writeFileSync } from 'node:fs';
import node from '@astrojs/node';
import snippets from 'astro-snippets';
let headers;
const spy = { name: 'spy', hooks: {
  'astro:build:generated': ({ routeToHeaders, experimentalRouteToHeaders }) => { headers = routeToHeaders ?? experimentalRouteToHeaders; },
  'astro:build:done': () => writeFileSync('headers.json', JSON.stringify([...headers].map(
    ([path, { headers, route }]) => [path, route.type, headers.get('x-url'), headers.get('content-security-policy')]))),
} };
export default {
  base: '${base}', trailingSlash: '${trailingSlash}', build: { format: '${format}' }, ${csp},
  redirects: { '/old': '/guide' },
  i18n: { locales: ['en', 'de'], defaultLocale: 'en', fallback: { de: 'en' }, routing: { fallbackType: 'rewrite' } },
  adapter: node({ mode: 'standalone', ${staticHeaders} }),
  integrations: [snippets({ csp: 'hash' }), spy],
};`;

describe('each page and endpoint is found where Astro has written it, and the code of its snippet is allowed', async () => {
  const service = await sharedService({ 1: '<script>"{{ page }}"</script>' });
  const formats: Format[] = ['directory', 'file', 'preserve'];
  const slashes = ['ignore', 'always', 'never'] as const;
  // Without a base, one way of writing paths for each format is enough.
  const cases = formats.flatMap((format, index) => [
    { base: '/', trailingSlash: slashes[index] ?? 'ignore', format },
    ...slashes.map((trailingSlash) => ({ base: '/docs', trailingSlash, format })),
  ]);

  test.for(cases)('base $base, trailingSlash $trailingSlash, build.format $format', async (urls) => {
    const { format } = urls;
    const site = await temporarySite({ 'astro.config.mjs': config(urls), ...files });
    await site.builds(service.environment);

    const texts = Object.entries(await site.texts('dist/client'));
    const urlByFile = new Map(
      texts.flatMap(([name, text]) => {
        const url = /data-url(?:="|":")([^"]*)/.exec(text)?.[1];
        return url === undefined ? [] : [[name, url] as const];
      }),
    );
    // Astro 6.0 writes no pages of a fallback language.
    expect(urlByFile.size).toBeGreaterThan(isFirstOfMajor && astroVersion === 6 ? 15 : 30);
    for (const [name, url] of urlByFile) {
      // A page of the fallback language tells the path of the page that it shows.
      if (!name.startsWith('de/') && name !== 'de.html') expect(filesAt(url, urls)).toContain(name);
    }

    const passed: PassedHeaders[] = JSON.parse(await readFile(join(site.directory, 'headers.json'), 'utf8'));
    expect(passed.length).toBeGreaterThan(byAstro({ 5: 15, 6: 15, 7: 30 }));
    for (const [path, type, url, policy] of passed) {
      const written = routeFiles({ path, type }, format).filter((name) => urlByFile.has(name));
      expect([path, ...written.map((name) => urlByFile.get(name))]).toEqual([path, url]);
      const hash = createHash('sha256').update(`"${url}"`).digest('base64');
      if (type !== 'endpoint') expect(policy, path).toContain(`'sha256-${hash}'`);
    }
  });
});
