import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type {
  AstroIntegration,
  AstroIntegrationLogger,
  HookParameters,
  IntegrationResolvedRoute,
} from 'astro';
import type { Plugin } from 'vite';
import { nodeFlaw } from './client/node-version.ts';
import type { DevRun } from './dev/dev-run.ts';
import { componentBridge } from './embed/component-bridge.ts';
import { userError } from './failures/errors.ts';
import type { BuildRun } from './integration/build-run.ts';
import type { SiteRun } from './integration/site-run.ts';
import type {} from './loader/loader.ts';
import { astroMajor, hasPolicy, headersOf } from './settings/astro-version.ts';
import { environmentPlugin } from './settings/environment-plugin.ts';
import type { SnippetsOptions } from './settings/options.ts';
import { parseOptions } from './settings/parse-options.ts';
import { SiteSource } from './source/site-source.ts';
import { sourcePlugin } from './source/vite-plugin.ts';
import { cleanLines } from './text/clean-text.ts';

export type { SnippetsOptions } from './settings/options.ts';

const integrationName = 'astro-snippets';

/**
 * The integration: fetches the snippets that pages embed while the site is built, and inlines them.
 *
 * The API key is no option: it is read from SNIPPETS_API_KEY, in the environment or a `.env` file, and stays in the process.
 *
 * @throws AstroError for options that are invalid or unknown, and on a Node that is too old.
 *
 * @example export default defineConfig({ integrations: [snippets()] });
 */
export default function snippets(options: SnippetsOptions = {}): AstroIntegration {
  const flaw = nodeFlaw();
  if (flaw !== undefined) throw userError('unsupported-node', flaw);
  const parsed = parseOptions(options);
  let command: HookParameters<'astro:config:setup'>['command'];
  // One of them, from `astro:config:done` on. A sync is a build, too.
  let dev: DevRun | undefined;
  let build: BuildRun | undefined;
  const run = () => (dev ?? build) as SiteRun;
  // A build resolves its routes before the config is done, a dev server afterwards, and again when pages come or go.
  let routes: readonly IntegrationResolvedRoute[] = [];
  let source: SiteSource | undefined;
  return {
    name: integrationName,
    hooks: {
      async 'astro:config:setup'({ config, addDevToolbarApp, injectScript, updateConfig, logger, ...setup }) {
        await build?.release();
        command = setup.command;
        const major = astroMajor(fileURLToPath(config.root));
        updateConfig({
          vite: {
            plugins: [
              environmentPlugin((...read) => run().readEnvironment(...read)),
              sourcePlugin({
                source: () => source as SiteSource,
                astro: major,
                logger: cleanLogger(logger),
                async onMention() {
                  const { SourceSearch } = await import('./source/source-search.ts');
                  const sources = source as SiteSource;
                  componentBridge.find = (asked) => new SourceSearch(sources).locateComponent(asked);
                  if (command !== 'build') return;
                  await build?.lockOutput();
                  // What fails here fails again.
                  build?.open().catch(() => {});
                },
              }),
            ],
            define: { __ASTRO_SNIPPETS__: JSON.stringify(command) },
          },
          integrations: [lastIntegration((dir) => build?.complete(fileURLToPath(dir)))],
        });
        if (command === 'dev') {
          const { pageScript } = await import('./dev/page-script.ts');
          injectScript('page', pageScript('import.meta.hot'));
        }
        addDevToolbarApp({
          id: integrationName,
          name: 'Snippets',
          icon: 'file-search',
          entrypoint: new URL('./dev/toolbar-app.js', import.meta.url),
        });
      },
      async 'astro:config:done'({ config, buildOutput, injectTypes, logger }) {
        const { root, srcDir, publicDir, outDir, experimental, vite } = config;
        const times = config.integrations.filter((one) => one.name === integrationName).length;
        const flaw = `The Astro config contains snippets() ${times} times.`;
        // Only one of them would see the embeds.
        if (times > 1) throw userError('duplicate-integration', flaw);
        const folders = {
          root: fileURLToPath(root),
          srcDir: fileURLToPath(srcDir),
          publicDir: fileURLToPath(publicDir),
          outDir: fileURLToPath(outDir),
        };
        source = new SiteSource({ folders, base: config.base, routes });
        const site = {
          command,
          options: parsed,
          config,
          logger: cleanLogger(logger),
          sources: source,
          isServer: buildOutput === 'server',
        };
        // Each loads only what it needs.
        const isDev = command === 'dev';
        dev = isDev ? new (await import('./dev/dev-run.ts')).DevRun(site) : undefined;
        build = isDev ? undefined : new (await import('./integration/build-run.ts')).BuildRun(site);
        // A sync or preview makes no CSS, and may be unable to write.
        if (isDev || command === 'build') await run().openClasses();
        // An import would find this package's frameworks, not the project's.
        const types = readFileSync(new URL('./element.d.ts', import.meta.url), 'utf8');
        injectTypes({ filename: 'element.d.ts', content: types });
        if (experimental.incrementalBuild === true && vite.build?.emptyOutDir === false) {
          logger.warn(oldPagesWarning);
        }
        if (parsed.csp === 'hash' && !hasPolicy(config)) {
          const option = astroMajor(folders.root) < 6 ? 'experimental.csp' : 'security.csp';
          logger.warn(`The option csp: 'hash' does nothing without ${option} in the Astro config.`);
        }
      },
      'astro:routes:resolved'({ routes: resolved }) {
        routes = resolved;
        source?.updateRoutes(resolved);
      },
      'astro-snippets:fetch': (options) => run().fetch(options),
      'astro:server:setup': (server) => dev?.serve(server),
      'astro:build:start': () => build?.start(),
      // Behind Astro's plugin that generates the pages: Astro 6 and later have no `astro:build:generated` if no page is
      // prerendered, and before `astro:build:done`, adapters copy the output. Astro 5 builds without it.
      'astro:build:setup'({ updateConfig }) {
        const built: Plugin = {
          name: 'astro-snippets:built',
          enforce: 'post',
          buildApp: {
            order: 'post',
            async handler({ config: { plugins }, environments: { client } }) {
              for (const { name, buildApp } of plugins) {
                if (buildApp && !/^astro(-snippets)?:/.test(name)) build?.laterIntegrations.push(name);
              }
              if (client !== undefined) await build?.finish(client.config.build.outDir);
            },
          },
        };
        updateConfig({ plugins: [built] });
      },
      'astro:build:generated': (parameters) =>
        build?.finish(fileURLToPath(parameters.dir), headersOf(parameters)),
    },
  };
}

/** Runs behind all other integrations: while it is not last, it adds another behind itself. */
function lastIntegration(onDone: (directory: URL) => unknown): AstroIntegration {
  let isLast = true;
  return {
    name: `${integrationName}:last`,
    hooks: {
      'astro:config:setup'({ config, updateConfig }) {
        isLast = config.integrations.at(-1)?.name === `${integrationName}:last`;
        if (!isLast) updateConfig({ integrations: [lastIntegration(onDone)] });
      },
      async 'astro:build:done'({ dir }) {
        if (isLast) await onDone(dir);
      },
    },
  };
}

/** Most messages contain text from the service, or names of files. */
function cleanLogger(logger: AstroIntegrationLogger) {
  const cleaned: AstroIntegrationLogger = Object.create(logger);
  for (const level of ['info', 'warn', 'error'] as const) {
    cleaned[level] = (line) => logger[level](cleanLines(line));
  }
  return cleaned;
}

const oldPagesWarning =
  'With experimental.incrementalBuild and vite.build.emptyOutDir: false, a page that Astro keeps from the last build shows the snippets of the last build. Remove emptyOutDir: pages are then restored from the cache, with their embeds.';
