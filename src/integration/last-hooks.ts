import type { AstroIntegration } from 'astro';
import type { Plugin } from 'vite';

/** Gets the folder of the client build, where the pages are, and the plugins that may still change pages. */
type BuiltHook = (directory: string | undefined, laterPlugins: string[]) => Promise<void>;

/**
 * A Vite plugin that is called when all pages are generated. Astro 6 and later have no
 * `astro:build:generated` if no page is prerendered, and adapters copy the output before `astro:build:done`.
 * Astro 5 builds without this hook.
 *
 * Add the plugin in `astro:build:setup`: it then runs after Astro's own plugin, which generates the pages.
 */
export function builtPlugin(onBuilt: BuiltHook): Plugin {
  return {
    name: 'astro-snippets:built',
    enforce: 'post',
    buildApp: {
      order: 'post',
      async handler({ config, environments }) {
        const laterPlugins = config.plugins.flatMap(({ name, buildApp }) =>
          buildApp && !/^astro(-snippets)?:/.test(name) ? name : [],
        );
        await onBuilt(environments['client']?.config.build.outDir, laterPlugins);
      },
    },
  };
}

const lastName = 'astro-snippets:last';

/** An integration that runs after all others: if it is not the last in the config, it adds itself again. */
export function lastIntegration(onDone: (directory: URL) => Promise<void>): AstroIntegration {
  let isLast = true;
  return {
    name: lastName,
    hooks: {
      'astro:config:setup'({ config, updateConfig }) {
        isLast = config.integrations.at(-1)?.name === lastName;
        if (!isLast) updateConfig({ integrations: [lastIntegration(onDone)] });
      },
      async 'astro:build:done'({ dir }) {
        if (isLast) await onDone(dir);
      },
    },
  };
}
