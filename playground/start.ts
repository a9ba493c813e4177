import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { preview } from 'astro';
import { program } from 'commander';
import { site } from './run-astro.ts';
import { keptCertificate } from './service/certificate.ts';
import { type Service, startService } from './service/index.ts';
import { editorScript } from './service/website/editor-script.ts';
import { exportsOf } from './service/website/key-pages.ts';
import { createSitePublisher } from './site-publisher.ts';

const { once, fresh, sitePort, websitePort, apiPort, failing, retryAfter, latency, cut, render, expired } =
  program
    .name('npm run playground --')
    .description(
      'Starts the Snippet Delivery Service on this machine, builds a site against it, and serves the result.',
    )
    .option('--once', 'end after the build')
    .option('--fresh', 'begin with a new database')
    .option('--site-port <port>', 'where the site is served', Number, 4321)
    .option('--website-port <port>', "where the service's website is", Number, 4400)
    .option('--api-port <port>', 'where its API is', Number, 4443)
    .optionsGroup('Faults, which can be changed on the website later:')
    .option('--failing <percent>', 'requests that fail with 503', Number, 0)
    .option('--retry-after <text>', 'the Retry-After of those', '')
    .option('--latency <milliseconds>', 'before each answer', Number, 0)
    .option('--cut <percent>', 'answers that are cut off', Number, 0)
    .option('--no-render', 'rendering is not there')
    .option('--expired', 'the subscription has expired')
    .parse()
    .opts();

const data = join(import.meta.dirname, '.data');
if (fresh) await rm(data, { recursive: true, force: true });
await mkdir(data, { recursive: true });
const authority = join(data, 'authority.pem');
const certificate = await keptCertificate(join(data, 'certificate.json'));
await writeFile(authority, certificate.authority);

let environment: Record<string, string> = {};
const publisher = createSitePublisher({
  siteUrl: `http://localhost:${sitePort}`,
  organizationId: () => organization.id,
  environment: () => environment,
});
const service = await startService({
  // Nobody opens the pages of a single build: any free port will do.
  port: once ? 0 : apiPort,
  websitePort: once ? 0 : websitePort,
  database: join(data, 'service.sqlite'),
  certificate,
  authorityFile: authority,
  publisher,
  onSetAside: (line) => console.log(`  ${line}`),
  onLinkWanted: writeLink,
  onSignIn: ({ organizationId, person }) =>
    console.log(`  The next login link: ${service.loginLink(organizationId, person ?? '')}`),
  faults: { failing: failing / 100, retryAfter, latency, cut: cut / 100, renderAbsent: !render },
}).catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') throw error;
  console.error(`${error.message}. Is another playground running? Other ports can be chosen: see --help.`);
  process.exit(1);
});
const organization =
  service.store.organizations.list()[0] ?? service.store.organizations.create('Playground');
service.store.organizations.setSubscription(organization.id, expired ? 'expired' : 'active');
environment = {
  SNIPPETS_API_KEY: newKey(service),
  ...service.settings,
  PLAYGROUND_WEBSITE_URL: service.websiteUrl,
  // The site is built with variant B, which does not send names.
  PLAYGROUND_NAMES: JSON.stringify(
    Object.fromEntries(service.store.snippets.list(organization.id).map(({ id, name }) => [id, name])),
  ),
};

// The first page with an editor does not wait for it.
void editorScript().catch(() => undefined);
publisher.publish();
const built = await publisher.settled();
if (once) await end(built?.state === 'done' ? 0 : 1);

const served = await preview({ root: site, server: { port: sitePort }, logLevel: 'warn' });
console.log(`
  The site      http://localhost:${served.port}/
  The website   ${service.loginLink(organization.id, process.env['USER'] ?? process.env['USERNAME'])}
                signs in once; edit a snippet there, publish it, and see it on the site
                ${process.stdin.isTTY ? 'type a name and press Enter here for a link for another person' : 'its sign-in page can ask for another link'}
  The API       ${service.openApiUrl}

  For a site of your own, create a key at ${service.websiteUrl}/keys, and put these into its .env, or set them where you build:

${exportsOf({ SNIPPETS_API_KEY: '…', ...service.settings }).replace(/^/gm, '    ')}

  Ctrl-C ends all of it. What you change stays, in playground/.data.
`);
// Redirected input is not read: its end would stop the server.
if (process.stdin.isTTY) {
  createInterface({ input: process.stdin })
    .on('line', writeLink)
    .on('close', () => void stop());
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, stop);
}

function writeLink(name: string): void {
  const person = name.trim();
  console.log(
    `  A new login link${person && ` for ${person}`}: ${service.loginLink(organization.id, person)}`,
  );
}

async function stop(): Promise<void> {
  await served.stop();
  await end(0);
}

/** A key for this run. The last run's key is revoked, since only its hash was stored. */
function newKey({ store: { keys } }: Service): string {
  const name = 'Playground build';
  for (const key of keys.list(organization.id)) {
    if (key.name === name) keys.revoke(organization.id, key.id);
  }
  return keys.create(organization.id, 'secret', name).secret;
}

async function end(exitCode: number): Promise<never> {
  await publisher.stop();
  await service.close();
  process.exit(exitCode);
}
