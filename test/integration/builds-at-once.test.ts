import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedService } from '../support/site/built-site.ts';
import { astroFolder } from '../support/site/installation.ts';
import { pageWith, type Site, temporarySite } from '../support/site/site.ts';
import { startProcess } from '../support/tools/command.ts';
import { cleanEnvironment } from '../support/tools/environment.ts';
import { exits } from '../support/tools/exits.ts';

const service = await sharedService({ 1: '<b>one</b>', 2: '<b>two</b>' });

/** A component that removes the tags of what it is given, and so loses a snippet. */
const cut = `---
const text = (await Astro.slots.render('default')).replace(/<[^>]*>/g, '');
---
<p>{text}</p>`;

const losing = {
  'src/components/Cut.astro': cut,
  'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
import Cut from '../components/Cut.astro';
---
<Cut><Snippet id={1} /></Cut>`,
};
const whole = { 'src/pages/index.astro': pageWith('<p><Snippet id={2} /></p>') };

/** Builds the sites in one process, at once. Returns the output, with a line for each site. */
function buildAtOnce(sites: readonly Site[]): Promise<string> {
  const code = `
    const { build } = await import(${JSON.stringify(join(astroFolder, 'dist/core/index.js'))});
    const roots = ${JSON.stringify(sites.map(({ directory }) => directory))};
    const results = await Promise.allSettled(roots.map((root) => build({ root })));
    results.forEach(({ status, reason }, index) => console.log('RESULT', index, status, reason?.message ?? ''));`;
  const { directory } = sites[0] as Site;
  const environment = { ...cleanEnvironment(), ...service.environment, ASTRO_TELEMETRY_DISABLED: '1' };
  const build = startProcess(process.execPath, ['--input-type=module', '-e', code], directory, environment);
  return exits(0, build.ended);
}

test.each([
  ['first', [losing, whole]],
  ['last', [whole, losing]],
] as const)(
  'of two builds at once in a process, the %s alone fails for the snippet that it has lost',
  async (_which, files) => {
    const sites = await Promise.all(files.map((site) => temporarySite(site)));
    const output = await buildAtOnce(sites);
    const lost = files.indexOf(losing as never);
    expect(output).toContain(`RESULT ${lost} rejected`);
    expect(output).toContain('Snippet 1 was rendered here, but is not in the output.');
    expect(output).toContain(`RESULT ${1 - lost} fulfilled`);
    expect(await sites[1 - lost]?.read('index.html')).toContain('<p><b>two</b></p>');
  },
);
