import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AstroConfig, AstroIntegration } from 'astro';
import { builtPlugin } from './built-plugin.ts';
import { cleanLogger } from './clean-logger.ts';
import { nodeFlaw } from './client/node-version.ts';
import { locationPlugin } from './components/location-plugin.ts';
import { titlePlugin } from './components/title-plugin.ts';
import { userError } from './failures/user-error.ts';
import { lastIntegration } from './last-integration.ts';
import type {} from './loader/fetch-hook.ts';
import { Run } from './run.ts';
import { astroVersion, hasPolicy, headersOf, policyOption, rendersTitles } from './settings/astro-version.ts';
import { environmentPlugin } from './settings/environment.ts';
import { parseOptions, type SnippetsOptions } from './settings/options.ts';
import type { SiteSource } from './source/on-demand-routes.ts';
import { sourcePlugin } from './source/source-plugin.ts';

export type { SnippetsOptions } from './settings/options.ts';

const name = 'astro-snippets';

/**
 * The integration: fetches the snippets that pages embed while the site is built, and inlines them.
 *
 * The API key is not an option. It is read from SNIPPETS_API_KEY, in the environment or in a `.env` file, and stays in
 * the process of the build.
 *
 * @throws AstroError for options that are invalid or unknown, and on a Node that is too old.
 *
 * @example
 * // astro.config.mjs
 * export default defineConfig({ integrations: [snippets()] });
 */
export default function snippets(options: SnippetsOptions = {}): AstroIntegration {
  const flaw = nodeFlaw();
  if (flaw !== undefined) throw userError('unsupported-node', flaw);
  const parsed = parseOptions(options);
  const run = new Run(parsed);
  const source: SiteSource = { modules: new Map(), routes: [] };
  return {
    name,
    hooks: {
      async 'astro:config:setup'({ command, config, addDevToolbarApp, injectScript, updateConfig, logger }) {
        run.begin(command);
        const plugin = environmentPlugin((environment, files) => run.readEnvironment(environment, files));
        const version = astroVersion(fileURLToPath(config.root));
        updateConfig({
          vite: {
            plugins: [
              plugin,
              sourcePlugin(source, cleanLogger(logger), () => run.expectEmbeds()),
              locationPlugin(),
              rendersTitles(version) ? undefined : titlePlugin(version),
            ],
            define: { __ASTRO_SNIPPETS__: JSON.stringify(command) },
          },
          integrations: [lastIntegration((dir) => run.checkLateFiles(fileURLToPath(dir)))],
        });
        if (command === 'dev') {
          const { pageScript } = await import('./dev/page-script.ts');
          injectScript('page', pageScript('import.meta.hot'));
        }
        addDevToolbarApp({
          id: 'astro-snippets',
          name: 'Snippets',
          icon: 'file-search',
          entrypoint: new URL('./dev/toolbar/app.js', import.meta.url),
        });
      },
      async 'astro:config:done'({ config, injectTypes, logger }) {
        refuseSecondIntegration(config);
        await run.configure(config, cleanLogger(logger));
        injectTypes({ filename: 'element.d.ts', content: elementTypes() });
        if (keepsOldPages(config)) logger.warn(oldPagesWarning);
        if (parsed.csp === 'hash' && !hasPolicy(config)) {
          const option = policyOption(astroVersion(fileURLToPath(config.root)));
          logger.warn(`The option csp: 'hash' does nothing without ${option} in the Astro config.`);
        }
      },
      'astro:routes:resolved'({ routes }) {
        source.routes = routes;
      },
      'astro-snippets:fetch': (options) => run.fetch(options),
      async 'astro:server:setup'(server) {
        const { serveSnippets } = await import('./dev/serve-snippets.ts');
        serveSnippets(server, run, source);
        // A page is not kept waiting, and what fails here is said when a page shows it.
        run.prepareClasses().catch(() => {});
      },
      'astro:build:start': () => run.startBuild(),
      'astro:build:setup'({ updateConfig }) {
        updateConfig({ plugins: [builtPlugin((directory) => run.finishWithoutPages(directory))] });
      },
      'astro:build:generated': (parameters) =>
        run.finishBuild({
          directory: fileURLToPath(parameters.dir),
          routeToHeaders: headersOf(parameters),
        }),
    },
  };
}

/** All of them, not an import: from inside this package, TypeScript may find other frameworks than the project's. */
function elementTypes(): string {
  return readFileSync(new URL('./element.d.ts', import.meta.url), 'utf8');
}

/** @throws AstroError if the config contains the integration twice: only one of them would see the embeds. */
function refuseSecondIntegration({ integrations }: AstroConfig): void {
  const found = integrations.filter((integration) => integration.name === name).length;
  if (found < 2) return;
  throw userError('duplicate-integration', `The Astro config contains snippets() ${found} times.`);
}

/**
 * Whether Astro keeps a page of the last build in the output. Its snippets are inlined already, so there is no embed
 * left to replace.
 */
function keepsOldPages({ experimental, vite }: AstroConfig): boolean {
  return experimental.incrementalBuild === true && vite.build?.emptyOutDir === false;
}

const oldPagesWarning =
  'With experimental.incrementalBuild and vite.build.emptyOutDir: false, a page that Astro keeps from the last build shows the snippets of the last build. Remove emptyOutDir: pages are then restored from the cache, with their embeds.';
