import { describe, expect, test } from 'vitest';
import { builtSite, sharedService } from '../support/site/built-site.ts';
import { astroVersion, byAstro, isFirstOfMajor, lacks } from '../support/site/installation.ts';
import { configWith, temporarySite } from '../support/site/site.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';
const refusal = (file: string, reason: string) =>
  new RegExp(`${file.replace(/[.[\]]/g, '\\$&')}\\n +${reason}`);
const component = `import { Snippet } from 'astro-snippets/components';`;

describe('in the browser', async () => {
  const { output } = await builtSite(
    {},
    {
      'astro.config.mjs': configWith('', {
        imports: `
          import preact from '@astrojs/preact';
          import react from '@astrojs/react';
          import vue from '@astrojs/vue';`,
        integrations: `react({ include: '**/react/*' }), preact({ include: '**/preact/*' }), vue(), `,
      }),
      'src/react/Only.jsx': `// A snippet-embed.\nexport default function Only() {\n  return <p>\n    ${embed}\n  </p>;\n}`,
      'src/react/Upper.jsx': `export default function Upper() {\n  return <p dangerouslySetInnerHTML={{ __html: '<SNIPPET-EMBED id="1"></SNIPPET-EMBED>' }} />;\n}`,
      'src/preact/Only.jsx': `export default function Only() {\n  return <p>${embed}</p>;\n}`,
      'src/Only.vue': `<script setup>\nconst id = 1;\n</script>\n<template><p><snippet-embed :id="id" /></p></template>`,
      'src/compiled.js': `import * as $ from './runtime.js';\nconst root = $.from_html('<p>${embed}</p>');\nexport const mount = () => $.append(root());`,
      'src/runtime.js':
        'export const from_html = (html) => () => html;\nexport const append = (html) => document.body.append(html);',
      'src/react/Harmless.jsx': `import { unused } from '../unused.js';
// ${embed} in a comment
export default function Harmless() {
  return <p onClick={() => document.querySelector('snippet-embed')}><code>{'${embed}'}</code></p>;
}`,
      'src/react/Server.jsx': `export default function Server() {\n  return <p>{import.meta.env.SSR ? '' : 'browser'}{import.meta.env.SSR ? ${embed} : ''}</p>;\n}`,
      'src/unused.js': `export const unused = '${embed}';`,
      'node_modules/dependency/package.json':
        '{ "name": "dependency", "type": "module", "exports": "./index.js" }',
      'node_modules/dependency/index.js': `export const show = () => { document.body.innerHTML = '${embed}'; };`,
      'src/pages/index.astro': `---
import React from '../react/Only.jsx';
import Upper from '../react/Upper.jsx';
import Harmless from '../react/Harmless.jsx';
import Server from '../react/Server.jsx';
import Preact from '../preact/Only.jsx';
import Vue from '../Only.vue';
---
<html><body><React client:only="react" /><Upper client:only="react" /><Harmless client:only="react" />
<Server client:only="react" /><Preact client:load /><Vue client:only="vue" />
<script>
  import { mount } from '../compiled.js';
  import { show } from 'dependency';
  show(mount());
</script>
<script>
  document.title = '${embed}';
</script></body></html>`,
    },
    1,
  );

  test('the build fails and says what to do', () => {
    expect(output).toMatch(/\[astro-snippets\/embed-in-browser\] .*6 files contain embeds/);
    expect(output).toContain('Pass the embed to an island as children');
  });

  test.each([
    ['a React island that is client:only', 'src/react/Only.jsx:4'],
    ['upper case', 'src/react/Upper.jsx:2'],
    ['a hydrated Preact island', 'src/preact/Only.jsx:2'],
    ['a Vue island', 'src/Only.vue:4'],
    ['a compiled template', 'src/compiled.js:2'],
    ['a script of a page', 'src/pages/index.astro:17'],
  ])('%s is named with its line', (_what, file) => {
    expect(output).toMatch(refusal(file, 'writes <snippet-embed> in the browser'));
  });

  test('a mention is one warning, also in a dependency, and code left out of the bundle is no warning', () => {
    expect(
      [...output.matchAll(/WARN.* (\S+) mentions snippet-embed/g)].map(([, file]) => file).sort(),
    ).toEqual(['node_modules/dependency/index.js:1', 'src/react/Harmless.jsx:4']);
    expect(output).not.toContain('Server.jsx');
    expect(output).not.toContain('unused.js');
  });
});

describe('on demand', async () => {
  const service = await sharedService({ 1: '<b>content</b>' });

  // `rendered` holds only embeds that are allowed.
  const build = async (files: Record<string, string>) => {
    const site = await temporarySite({ ...rendered, ...files });
    return { ...(await site.build(service.environment)), site };
  };
  const rendered = {
    'astro.config.mjs': configWith('', {
      imports: `import mdx from '@astrojs/mdx';\nimport node from '@astrojs/node';`,
      settings: `base: '/docs', adapter: node({ mode: 'standalone' }),`,
      integrations: 'mdx(), ',
    }),
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { glob } from 'astro/loaders';
      export const collections = { posts: defineCollection({ loader: glob({ pattern: '*', base: './src/posts' }) }) };`,
    'src/example.md': `\`${embed}\`\n\n\`\`\`html\n${embed}\n\`\`\`\n`,
    'src/posts/a.md': `text ${embed}`,
    'src/posts/b.mdx': `${component}\n\n<Snippet id={1} />`,
    'src/pages/still.astro': `---
import Still from '../Still.astro';
${component}
---
<html><body><Still /><Snippet id={1} /></body></html>`,
    'src/Still.astro': `<p>${embed}</p>`,
    'src/pages/list.astro': `---
import { getCollection, render } from 'astro:content';
import { SnippetClient } from 'astro-snippets/client';
export const prerender = false;
import { Content } from '../example.md';
import raw from '../example.md?raw';
const posts = await getCollection('posts');
const { Content: Post } = await render(posts[0]);
---
<html><body><Content /><Post />{raw.length} {posts.length} {String(SnippetClient).length} <code>{'${embed}'}</code></body></html>`,
    'src/middleware.ts': `
      export const onRequest = async (context, next) => {
        const response = await next();
        if (!context.isPrerendered) return response;
        return new Response((await response.text()).replace('</body>', '<i>${embed}</i></body>'), response);
      };`,
  };

  test('embeds in pages, endpoints and server islands fail the build, each named with its line', async () => {
    const { exitCode, output } = await build({
      'src/pages/live.astro': `---
import Hand from '../Hand.astro';
export const prerender = false;
---
<html><body>
<Hand />${embed}</body></html>`,
      'src/Hand.astro': `<p>by\n  hand ${embed}</p>`,
      'src/pages/component.astro': `---
export const prerender = false;
${component}
---
<Snippet id={1} />`,
      'src/pages/live.json.ts': `export const prerender = false;\nexport const GET = () => Response.json({ html: '${embed}' });`,
      'src/Late.astro': `<p>${embed}</p>`,
      'src/pages/island.astro': `---
import Late from '../Late.astro';
---
<html><body><Late server:defer><i slot="fallback">${embed}</i></Late></body></html>`,
    });
    expect(exitCode).toBe(1);
    // The server of Astro 6.0 has no islands of prerendered pages.
    const lacksIslands = isFirstOfMajor && astroVersion === 6;
    const places = lacksIslands ? 4 : 5;
    expect(output).toContain('[astro-snippets/on-demand-page]');
    expect(output).toContain(`${places} files contain embeds`);
    expect(output).toContain('show the snippet through `liveSnippetLoader` from `astro-snippets/live`');
    for (const file of [
      'src/pages/live.astro:6',
      'src/Hand.astro:2',
      'src/pages/component.astro:5',
      'src/pages/live.json.ts:2',
      'src/Late.astro:1',
    ].slice(0, places)) {
      expect(output).toMatch(
        refusal(file, 'is built for pages or server islands that are rendered on demand'),
      );
    }
  });

  test('an embed passed to a server island fails the build: Astro encrypts it', async () => {
    const island = (children: string) => `---
import Late from '../Late.astro';
${component}
---
<html><body><Late server:defer>
  ${children}
</Late></body></html>`;
    const { exitCode, output } = await build({
      'src/Late.astro': '<p><slot /></p>',
      'src/pages/island.astro': island(`<b>${embed}</b>`),
      'src/pages/component.astro': island('<Snippet id={1} />'),
    });
    expect(exitCode).toBe(1);
    expect(output).toMatch(refusal('src/pages/island.astro:6', 'passes an embed to a server island'));
    expect(output).toMatch(refusal('src/pages/component.astro:6', 'passes an embed to a server island'));
  });

  test('an embed that content, a prop or a wrapper passes to a server island fails the build, but no example', async () => {
    const page = (imports: string, body: string) =>
      `---\nimport Late from '../Late.astro';\n${imports}\n---\n<html><body>${body}</body></html>`;
    const { exitCode, output } = await build({
      'src/Late.astro': '<b set:html={Astro.props.text} /><slot />',
      'src/Wrapper.astro': "---\nimport Late from './Late.astro';\n---\n<Late server:defer><slot /></Late>",
      'src/passed.md': `---\ntitle: 'T <snippet-embed id=22></snippet-embed>'\n---\n<snippet-embed id="21"></snippet-embed>`,
      'src/shown.md': 'An example: `<snippet-embed id="29"></snippet-embed>`',
      'src/pages/content.astro': page(
        "import { Content } from '../passed.md';",
        '<Late server:defer><Content /></Late>',
      ),
      'src/pages/prop.astro': page(
        "import { frontmatter } from '../passed.md';",
        '<Late server:defer text={frontmatter.title} />',
      ),
      'src/pages/text.astro': page(
        "const name = 'snippet-' + 'embed';",
        `<Late server:defer>{'<' + name + ' id="23"></' + name + '>'}</Late>`,
      ),
      'src/pages/wrapped.astro': page(
        "import Wrapper from '../Wrapper.astro';",
        '<Wrapper><snippet-embed id="24"></snippet-embed></Wrapper>',
      ),
      'src/pages/example.astro': page(
        "import { Content } from '../shown.md';",
        '<Late server:defer><Content /></Late>',
      ),
    });
    expect(exitCode).toBe(1);
    for (const [id, place] of [
      [21, 'src/passed.md:4'],
      [22, 'src/passed.md:2'],
      [24, 'src/pages/wrapped.astro:'],
    ]) {
      expect(output).toMatch(new RegExp(`Snippet ${id} is passed to the server island Late[^]*?${place}`));
    }
    expect(output).toContain('Snippet 23 is passed to the server island Late');
    expect(output).not.toContain('Snippet 29');
  });

  // Astro 7 alone has experimental.collectionStorage.
  test.for(byAstro({ 5: [], 6: [], 7: ["'chunked'", "{ type: 'chunked', chunkSize: 400 }"] }))(
    'an embed in a collection is one warning with collectionStorage: %s, too',
    async (storage, { skip }) => {
      const reason = lacks('experimental.collectionStorage', '7.3.0');
      skip(reason !== undefined, reason);
      const config = rendered['astro.config.mjs'].replace(
        'base:',
        `experimental: { collectionStorage: ${storage} }, base:`,
      );
      const { exitCode, output } = await build({ 'astro.config.mjs': config });
      expect(exitCode, output).toBe(0);
      expect(output.match(/WARN.*The store of collections mentions an embed/g)).toHaveLength(1);
    },
  );

  test('a site with on-demand pages builds; embeds only in collections and the middleware are a warning', async () => {
    const { exitCode, output, site } = await build({});
    expect(output).not.toContain('on-demand-page');
    expect(exitCode).toBe(0);
    expect(await site.read('client/still/index.html')).toContain(
      '<p><b>content</b></p><b>content</b><i><b>content</b></i>',
    );
    expect(output).toMatch(/WARN.*The store of collections mentions an embed.* Rendered on demand: \/.+\./);
    expect(output).toMatch(
      /WARN.*src\/posts\/b\.mdx:3 mentions an embed, and is part of what renders pages on demand/,
    );
    expect(output).toMatch(/WARN.*src\/middleware\.ts:5 mentions an embed, and is part/);
    expect(output).toContain('show the snippet through liveSnippetLoader from astro-snippets/live');
    expect(output).not.toMatch(/WARN.*(?:Still|list)\.astro/);
    expect(output).toMatch(/WARN.*src\/example\.md(?::\d+)? mentions an embed/);
  });
});
