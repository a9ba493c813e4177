import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../support/server.ts';
import { type BuildResult, createSite, type Site } from '../support/site.ts';

const sites: Site[] = [];
const site = async (files: Record<string, string>) => {
  const created = await createSite(files);
  sites.push(created);
  return created;
};
afterAll(() => Promise.all(sites.map((one) => one.remove())));

const examples = `
\`<Snippet id={8} />\` and \`<snippet-embed id="8"></snippet-embed>\`

\`\`\`html
<Snippet id={8} />
<snippet-embed id="8"></snippet-embed>
\`\`\`
`;

describe('<Snippet> in Markdown', () => {
  let failing: Site;
  let built: BuildResult;
  beforeAll(async () => {
    failing = await site({
      'src/pages/post.md': `# Post\n\nSee <Snippet id={42} /> here.\n\n<Snippet id={43} params={{ plan: 'pro' }} />\n${examples}`,
      'src/pages/title.astro': `<html><head><title set:html={'<Snippet id={5} />'}></title></head><body>
<Fragment set:html={'<!-- <Snippet id={6} /> --><kbd><Snippet id={6} /></kbd><p data-snippets-ignore><Snippet id={6} /></p>'} />
<Fragment set:html={'<snippet>of its own</snippet>'} />
</body></html>`,
      'src/pages/plain.md': examples,
    });
    built = await failing.build();
  });

  test('a tag that Markdown leaves in the page fails the build, with the line of the page and of the source', () => {
    expect(built.exitCode).toBe(1);
    expect(built.output).toMatch(
      /post\/index\.html:2\n +<Snippet> was not rendered: .*written in src\/pages\/post\.md:3\. \[unrendered-component\]/,
    );
  });

  test('the report says to write <snippet-embed> or .mdx instead, and asks for no key', () => {
    expect(built.output).toContain(
      'write <snippet-embed id="42"></snippet-embed>, or rename the file to .mdx',
    );
    expect(built.output).not.toContain('missing-key');
  });

  test('a tag as raw text in <title> fails the build', () => {
    expect(built.output).toMatch(/title\/index\.html:1\n +<Snippet> was not rendered/);
  });

  test('code, comments, data-snippets-ignore, and another <snippet> are no faults', () => {
    expect(built.output).toContain('2 embeds are invalid');
  });

  test('a tag that Markdown escapes is a warning with the line of the page', () => {
    expect(built.output).toMatch(/WARN.*post\/index\.html:3: shows the text of a <Snippet>/);
  });

  test('a page with a tag that was not rendered is not left in the output, and a page of examples is', async () => {
    expect((await failing.list()).filter((name) => name.endsWith('.html'))).toEqual(['plain/index.html']);
  });

  test('astro dev shows the same report', async () => {
    const dev = await startServer(failing, 'dev');
    try {
      const response = await fetch(`${dev.url}/post`);
      expect(response.status).toBe(500);
      expect(await response.text()).toContain('written in src/pages/post.md:3. [unrendered-component]');
    } finally {
      await dev.stop();
    }
  });
});

test('a site whose pages hold only examples builds without a key', async () => {
  const { exitCode, output } = await (await site({ 'src/pages/index.md': examples })).build();
  expect(exitCode).toBe(0);
  expect(output).not.toContain('WARN');
});

test('snippets() twice in the config fails and says so', async () => {
  const twice = await site({
    'astro.config.mjs': `
      import snippets from 'astro-snippets';
      export default { integrations: [snippets(), snippets({ concurrency: 2 })] };`,
    'src/pages/index.md': 'text',
  });
  const { exitCode, output } = await twice.build();
  expect(exitCode).toBe(1);
  expect(output).toContain(
    '[astro-snippets/duplicate-integration] The Astro config contains snippets() 2 times.',
  );
});
