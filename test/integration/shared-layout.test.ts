import { describe, expect, test } from 'vitest';
import { sharedService } from '../support/site/built-site.ts';
import { sharedLayoutFiles } from '../support/site/shared-layout.ts';
import { temporarySite } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const service = await sharedService({ 1: '<s>one</s>' });
const component = `import { Snippet } from 'astro-snippets/components';`;

describe.each(['static', 'server'] as const)(
  'in a layout that pages on demand share, with the output %s,',
  (output) => {
    test('embeds that are shown only where Astro.isPrerendered build without a warning, and are inlined', async () => {
      const site = await temporarySite(sharedLayoutFiles(output), service);
      expect(await site.builds()).not.toContain('WARN] [astro-snippets]');
      const html = await site.read('client/index.html');
      expect(html.match(/<s>one<\/s>/g)).toHaveLength(5);
      expect(html).not.toContain('snippet-embed');
    });

    test.for<[string, Record<string, string>, string]>([
      [
        'a component that nothing guards',
        { 'src/Header.astro': `---\n${component}\n---\n<header><Snippet id={1} /></header>` },
        'src/Header.astro:4',
      ],
      [
        'an element that nothing guards',
        { 'src/Header.astro': '<header>\n<snippet-embed id="1"></snippet-embed></header>' },
        'src/Header.astro:2',
      ],
      [
        'a component that is shown where pages are not prerendered',
        {
          'src/Header.astro': `---\n${component}\n---\n<header>{!Astro.isPrerendered && <Snippet id={1} />}</header>`,
        },
        'src/Header.astro:4',
      ],
      [
        'a component around it that is guarded in one place alone',
        {
          'src/Header.astro': `---\nimport Banner from './Banner.astro';\n---\n<header>{Astro.isPrerendered && <Banner />}</header>`,
          'src/Live.astro': `---\nimport Banner from './Banner.astro';\n---\n<Banner />`,
          'src/pages/live.astro': `---\nexport const prerender = false;\nimport Live from '../Live.astro';\n---\n<Live />`,
        },
        'src/Banner.astro:4',
      ],
      [
        'a server island',
        { 'src/Late.astro': `---\n${component}\n---\n<em>late <Snippet id={1} /></em>` },
        'src/Late.astro:4',
      ],
    ])('%s fails the build, which names it and says what to write', async ([, files, place]) => {
      const site = await temporarySite({ ...sharedLayoutFiles(output), ...files }, service);
      const failed = await exits(1, site.build());
      expect(failed).toContain('[astro-snippets/on-demand-page]');
      expect(failed).toContain(`\n${place}\n`);
      expect(failed).toContain('{Astro.isPrerendered && <Snippet id={42} />}');
      expect(failed).toContain('`liveSnippetLoader` from `astro-snippets/live`');
    });
  },
);
