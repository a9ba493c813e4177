import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runAstro } from './run-astro.ts';
import { startService } from './service/index.ts';

/**
 * `npm run playground`: starts the service, builds the site against it just as a user's own build would run, and
 * serves the result until Ctrl-C. With `--once`, it ends after the build.
 */
const { values: flags } = parseArgs({
  options: {
    once: { type: 'boolean', default: false },
    port: { type: 'string', default: '4321' },
  },
});

const service = await startService();
const folder = await mkdtemp(join(tmpdir(), 'snippet-playground-'));
const authority = join(folder, 'authority.pem');
await writeFile(authority, service.certificateAuthority);

const environment = {
  SNIPPETS_API_KEY: service.keys?.secretKey ?? '',
  SNIPPETS_RENDER_BASE_URL: service.renderBaseUrl,
  SNIPPETS_RETRIEVE_BASE_URL: service.retrieveBaseUrl,
  NODE_EXTRA_CA_CERTS: authority,
};

async function end(exitCode: number): Promise<never> {
  await service.close();
  await rm(folder, { recursive: true, force: true });
  process.exit(exitCode);
}

const build = await runAstro(['build'], environment).ended;
if (build !== 0 || flags.once) await end(build);

const preview = runAstro(['preview', '--port', flags.port], environment);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    preview.stop();
  });
}
console.log(`
  The service   ${service.origin}   (stops with this command; nothing is kept)
  The site      below, as it was built just now

  Ctrl-C ends both.
`);
await end(await preview.ended);
