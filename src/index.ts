import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AstroConfig, AstroIntegration, AstroIntegrationLogger, IntegrationResolvedRoute } from 'astro';
import { nodeFlaw } from './client/node-version.ts';
import type { DevRun } from './dev/dev-run.ts';
import { userError } from './failures/errors.ts';
import type { BuildRun } from './integration/build-run.ts';
import type { InlinedBuild } from './integration/inlined-build.ts';
import { builtPlugin, lastIntegration } from './integration/last-hooks.ts';
import { liveEntry, refuseIgnoredCollections } from './integration/live-entry.ts';
import { ownDependencies } from './integration/own-dependencies.ts';
import type { PreparedBuild } from './integration/prepared-build.ts';
import { openSite, type Site } from './integration/site.ts';
// Loads the types of the hook `astro-snippets:fetch`.
import type {} from './loader/loader.ts';
import type { Environment, EnvironmentFiles } from './settings/environment.ts';
import { environmentPlugin } from './settings/environment-plugin.ts';
import type { ParsedOptions, SnippetsOptions } from './settings/options.ts';
import { parseOptions } from './settings/parse-options.ts';
import { astroMajor, hasPolicy, headersOf, type RouteToHeaders } from './settings/versions.ts';
import { islandPlugin } from './source/island-plugin.ts';
import { sourcePlugin } from './source/vite-plugin.ts';
import { cleanLines } from './text/clean-text.ts';

export type { SnippetsOptions } from './settings/options.ts';

const integrationName = 'astro-snippets';

/**
 * The integration: fetches the snippets that pages embed while the site is built, and inlines them.
 *
 * The API key is no option: it is read from SNIPPETS_API_KEY, in the environment or a `.env` file, and stays
 * in the process.
 *
 * @throws UserError for options that are invalid or unknown, and on a Node that is too old.
 *
 * @example export default defineConfig({ integrations: [snippets()] });
 */
export default function snippets(options: SnippetsOptions = {}): AstroIntegration {
  const flaw = nodeFlaw();
  if (flaw !== undefined) throw userError('unsupported-node', flaw);
  const parsedOptions = parseOptions(options);

  // Each step sets a variable for later steps. The variables are in the order in which they are set: `dev` or
  // `build` when Vite reads the environment, the others in hooks.
  let command: Site['command'];
  let routes: readonly IntegrationResolvedRoute[] = [];
  let site: Site | undefined;
  let dev: DevRun | undefined;
  let build: BuildRun | undefined;
  let prepared: PreparedBuild | undefined;
  let inlined: InlinedBuild | undefined;

  /** The site, which is known from `astro:config:done` on. */
  const openedSite = () => site as Site;

  /** The build or dev server, which is known once Vite has read the environment: before collections load. */
  const currentRun = () => (dev ?? build) as DevRun | BuildRun;

  /** Begins the build or dev server when Vite first reads the environment, and passes later changes on. */
  const readEnvironment = async (environment: Environment, files: EnvironmentFiles) => {
    // A dev server and a build need different code, so only one of the two modules is loaded. Vite may read the
    // environment again while the module loads, so whether there is a run already is decided afterwards.
    if (command === 'dev') {
      const { DevRun } = await import('./dev/dev-run.ts');
      if (dev) dev.session.updateEnvironment(environment, files);
      else dev = new DevRun(openedSite(), environment, files);
    } else {
      const { BuildRun } = await import('./integration/build-run.ts');
      if (build) build.session.updateEnvironment(environment, files);
      else build = new BuildRun(openedSite(), environment, files);
    }
  };

  /** Prepares for embeds when a module mentions one. */
  const noteMention = async () => {
    const { SourceSearch } = await import('./source/source-search.ts');
    const { sources } = openedSite();
    openedSite().bridge.find = (asked) => new SourceSearch(sources).locateComponent(asked);
    await build?.noteMention();
  };

  /**
   * Inlines snippets once: in `astro:build:generated`, or in the plugin of last-hooks.ts where no page is
   * prerendered, and Astro 6 and later have no such hook.
   */
  const inline = async (directory: string, routeToHeaders?: RouteToHeaders) => {
    inlined ??= await prepared?.inline(directory, routeToHeaders);
  };

  const complete = async (directory: URL) => {
    await inlined?.record(fileURLToPath(directory));
    await build?.release();
  };

  return {
    name: integrationName,
    hooks: {
      async 'astro:config:setup'({ config, addDevToolbarApp, injectScript, updateConfig, logger, ...setup }) {
        // A program may build twice in one process: what a failed build has left open is closed here.
        await build?.release();
        command = setup.command;
        const astro = astroMajor(fileURLToPath(config.root));
        const sourceOptions = { source: () => openedSite().sources, astro, logger: cleanLogger(logger) };
        updateConfig({
          vite: {
            plugins: [
              environmentPlugin(readEnvironment),
              sourcePlugin({ ...sourceOptions, onMention: noteMention }),
              islandPlugin(sourceOptions.logger),
              ownDependencies(config.root),
              liveEntry(config, astro),
            ],
            define: {
              __ASTRO_SNIPPETS__: JSON.stringify(command),
              __ASTRO_SNIPPETS_PROJECT__: JSON.stringify(command === 'dev' ? config.root.href : ''),
            },
          },
          integrations: [lastIntegration(complete)],
        });
        if (command === 'dev') {
          const { pageScript } = await import('./dev/error-page.ts');
          injectScript('page', pageScript('import.meta.hot'));
        }
        addDevToolbarApp(toolbarApp);
      },

      // A build runs this hook before `astro:config:done`; a dev server after it, and again when pages are
      // added or removed.
      'astro:routes:resolved'({ routes: resolvedRoutes }) {
        routes = resolvedRoutes;
        if (site) site.sources.routes = routes;
      },

      async 'astro:config:done'({ config, buildOutput, injectTypes, logger }) {
        refuseDuplicate(config);
        refuseIgnoredCollections(config, astroMajor(fileURLToPath(config.root)));
        const isServer = buildOutput === 'server';
        const known = {
          command,
          options: parsedOptions,
          config,
          isServer,
          logger: cleanLogger(logger),
        };
        site = await openSite(known, routes);
        dev = build = prepared = inlined = undefined;
        injectTypes({ filename: 'element.d.ts', content: readElementTypes() });
        warnOfOptions(config, parsedOptions, logger);
      },

      'astro-snippets:fetch': (options) => currentRun().fetchCollection(options),

      'astro:server:setup': (server) => dev?.serve(server),

      async 'astro:build:start'() {
        const { prepareBuild } = await import('./integration/prepared-build.ts');
        prepared = build && (await prepareBuild(build));
      },

      'astro:build:setup'({ updateConfig }) {
        const plugin = builtPlugin(async (directory, laterPlugins) => {
          build?.laterIntegrations.push(...laterPlugins);
          if (directory !== undefined) await inline(directory);
          await inlined?.checkServer();
        });
        updateConfig({ plugins: [plugin] });
      },

      'astro:build:generated': (parameters) => inline(fileURLToPath(parameters.dir), headersOf(parameters)),
    },
  };
}

/** Refuses a second integration in the config: only one of them would see the embeds. */
function refuseDuplicate({ integrations }: AstroConfig): void {
  const times = integrations.filter(({ name }) => name === integrationName).length;
  if (times > 1) {
    throw userError('duplicate-integration', `The Astro config contains snippets() ${times} times.`);
  }
}

/** The types of the element as text: an import would find this package's frameworks, not the project's. */
const readElementTypes = () => readFileSync(new URL('./element.d.ts', import.meta.url), 'utf8');

function warnOfOptions(config: AstroConfig, options: ParsedOptions, logger: AstroIntegrationLogger): void {
  const { experimental, vite, root } = config;
  if (experimental.incrementalBuild === true && vite.build?.emptyOutDir === false) {
    logger.warn(
      'With experimental.incrementalBuild and vite.build.emptyOutDir: false, a page that Astro keeps from the last build shows the snippets of the last build. Remove emptyOutDir: pages are then restored from the cache, with their embeds.',
    );
  }
  if (options.csp === 'hash' && !hasPolicy(config)) {
    const option = astroMajor(fileURLToPath(root)) < 6 ? 'experimental.csp' : 'security.csp';
    logger.warn(`The option csp: 'hash' does nothing without ${option} in the Astro config.`);
  }
}

/** Removes control characters from each line: most messages contain text from the service, or file names. */
function cleanLogger(logger: AstroIntegrationLogger): AstroIntegrationLogger {
  const cleaned: AstroIntegrationLogger = Object.create(logger);
  for (const level of ['info', 'warn', 'error'] as const) {
    cleaned[level] = (line) => logger[level](cleanLines(line));
  }
  return cleaned;
}

const toolbarApp = {
  id: integrationName,
  name: 'Snippets',
  icon: 'file-search',
  entrypoint: new URL('./dev/toolbar-app.js', import.meta.url),
} as const;
