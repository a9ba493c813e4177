import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AstroIntegration } from 'astro';
import type { BuildBeginning } from './build/begin-build.ts';
import { preloadPlugin } from './build/preload.ts';
import { setAside } from './build/set-aside.ts';
import type {} from './content/fetch-hook.ts';
import { environmentPlugin } from './environment.ts';
import { interruptible } from './interruption.ts';
import { keepsOldPages, oldPagesWarning } from './old-pages.ts';
import { parseOptions, resolveSettings, type Settings, type SnippetsOptions } from './options.ts';
import { manifestFile } from './publish/manifest-file.ts';

export type { SnippetsOptions } from './options.ts';

/**
 * The integration: renders the snippets that pages embed while the site is built, and inlines them.
 *
 * The API key is not an option. It is read from SNIPPETS_API_KEY, in the environment or in a `.env` file, and
 * stays in the build's own process.
 *
 * @throws AstroError for options that are wrong or unknown.
 *
 * @example
 * // astro.config.mjs
 * export default defineConfig({ integrations: [snippets()] });
 */
export default function snippets(options: SnippetsOptions = {}): AstroIntegration {
  const parsed = parseOptions(options);
  let settings: Settings = resolveSettings(parsed, {});
  let site = { cacheDirectory: '', hasPolicy: false, base: '/' };
  let beginning: BuildBeginning | undefined;
  return {
    name: 'astro-snippets',
    hooks: {
      'astro:config:setup'({ addDevToolbarApp, updateConfig }) {
        const plugin = environmentPlugin((environment) => {
          settings = resolveSettings(parsed, environment, site);
        });
        updateConfig({ vite: { plugins: [plugin, preloadPlugin()] } });
        addDevToolbarApp({
          id: 'astro-snippets',
          name: 'Snippets',
          icon: 'file-search',
          entrypoint: new URL('./dev/toolbar/app.js', import.meta.url),
        });
      },
      'astro:config:done'({ config, injectTypes, logger }) {
        injectTypes({ filename: 'element.d.ts', content: "import 'astro-snippets/element';\n" });
        site = {
          cacheDirectory: fileURLToPath(config.cacheDir),
          hasPolicy: Boolean(config.security.csp),
          base: config.base,
        };
        if (keepsOldPages(config)) logger.warn(oldPagesWarning);
      },
      async 'astro-snippets:fetch'({ who, snippets, warn }) {
        const { fetchEntries } = await import('./content/fetch-entries.ts');
        return fetchEntries(settings, who, warn, snippets);
      },
      async 'astro:server:setup'(dev) {
        const { serveSnippets } = await import('./dev/serve-snippets.ts');
        serveSnippets(dev, () => settings);
      },
      async 'astro:build:start'({ logger }) {
        const manifest = manifestFile(site.cacheDirectory);
        // Whatever is heavy is loaded where there is something to do: here, what the last build showed.
        if (!existsSync(manifest)) return;
        const { beginBuild } = await import('./build/begin-build.ts');
        beginning = await beginBuild(manifest, settings, logger);
      },
      async 'astro:build:generated'({ dir, routeToHeaders, logger }) {
        const directory = fileURLToPath(dir);
        const manifest = manifestFile(site.cacheDirectory);
        // From the first moment on: what is loaded for the work takes longer than some of it.
        await interruptible((signal) =>
          setAside(directory, dirname(manifest), async (aside) => {
            const { beginBuild } = await import('./build/begin-build.ts');
            const { inlineSite } = await import('./build/inline-site.ts');
            beginning ??= await beginBuild(manifest, settings, logger);
            const output = { directory, aside, manifest, base: site.base, routeToHeaders };
            await inlineSite(output, beginning, settings, logger, signal);
          }),
        );
      },
      async 'astro:build:done'() {
        await beginning?.end();
      },
    },
  };
}
