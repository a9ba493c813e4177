import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { startService } from '../../playground/service/index.ts';
import { createSite } from '../support/site/site.ts';
import { startCommand } from '../support/tools/command.ts';

const page = (body: string) => `---
import { Snippet } from 'astro-snippets/components';
---
${body}
`;

const home = '<p><Snippet id={42}>Ask us about shipping.</Snippet></p>';

/** A site with two snippets of the playground, and its service. */
async function start() {
  const service = await startService();
  const { store } = service;
  const organization = store.organizations.list()[0]?.id ?? 0;
  const folder = await mkdtemp(join(tmpdir(), 'snippets-docs-'));
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, service.certificateAuthority);
  const environment = {
    SNIPPETS_API_KEY: store.keys.create(organization, 'secret', 'docs').secret,
    SNIPPETS_RENDER_BASE_URL: service.renderBaseUrl,
    SNIPPETS_RETRIEVE_BASE_URL: service.retrieveBaseUrl,
    NODE_EXTRA_CA_CERTS: authority,
  };
  const site = await createSite({
    'src/pages/index.astro': page(home),
    'src/pages/pricing.astro': page(`<Snippet id={43} params={{ plan: 'pro' }} />`),
  });
  const clean = (text: string) =>
    stripVTControlCharacters(text)
      .replaceAll(', on this machine', '')
      .replaceAll(service.renderBaseUrl, 'https://snippets.example/render')
      .replaceAll(service.retrieveBaseUrl, 'https://snippets.example/retrieve')
      .replaceAll(new URL(service.websiteUrl).origin, 'https://snippets.example')
      .replaceAll(/\b\d+(\.\d+)? ?m?s\b/g, '20 ms')
      .replaceAll(/Node \d+\.\d+\.\d+/g, 'Node 24.0.0')
      .trimEnd();
  return {
    site,
    async build(succeeds: boolean): Promise<string> {
      // Not in a test host: `npm run docs` has none, and this service has its own authority.
      const { exitCode, output } = await site.start(['build'], environment).ended;
      if ((exitCode === 0) !== succeeds) throw new Error(output);
      return clean(output);
    },
    async run(command: string): Promise<string> {
      const running = startCommand(site.directory, command.split(' '), environment);
      await running.ended;
      return textBlock(clean(running.stdout()));
    },
    publish(id: number, draft: string): void {
      store.snippets.save(organization, id, { name: `Snippet ${id}`, draft, sample: '{}' });
      store.snippets.publish(organization, id);
    },
    async end(): Promise<void> {
      await site.remove();
      await rm(folder, { recursive: true });
      await service.close();
    },
  };
}

/**
 * What commands print on real sites with the playground's snippets, by the names of the texts in the docs. Ports, times
 * and other values that differ from run to run are replaced.
 */
export const outputs: Record<string, () => Promise<Map<string, string>>> = {
  async 'a build and commands after it'() {
    const { site, build, run, publish, end } = await start();
    try {
      const built = await build(true);
      const html = (await site.read('index.html')).replace('<!DOCTYPE html>', '').trim();
      publish(42, 'Shipping is <strong>free from 30 €</strong>.');
      const [check, refresh] = await Promise.all([run('check'), run('refresh --dry-run')]);
      return new Map([
        ['build-output', textBlock(lineWith(built, ' 0 retries '))],
        ['page-output', block('html', html)],
        ['check-output', check],
        ['refresh-output', refresh],
      ]);
    } finally {
      await end();
    }
  },
  async 'a build that fails'() {
    const { site, build, end } = await start();
    try {
      await site.write({ 'src/pages/index.astro': page(`${home}<p><Snippet id={420} /></p>`) });
      return new Map([['failed-build', textBlock(reportIn(await build(false)))]]);
    } finally {
      await end();
    }
  },
};

const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`;
const textBlock = (text: string) => block('text', text);

function lineWith(output: string, part: string): string {
  return (output.split('\n').find((line) => line.includes(part)) ?? '').replace(/^[\d:]+ /, '');
}

/** The report of a failed build, without Astro's lines before it. */
function reportIn(output: string): string {
  return output.slice(output.lastIndexOf('\n[astro-snippets]')).trim();
}
