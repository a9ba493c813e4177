import type { AstroIntegration } from 'astro';

interface Builder {
  environments: Readonly<Record<string, { config: { build: { outDir: string } } }>>;
}

/**
 * A Vite plugin that runs when all pages are generated. Astro 6 and later have no `astro:build:generated` if no page is
 * prerendered, and adapters copy the output in `astro:build:done`, before any other integration. Astro 5 builds without it.
 *
 * To be added in `astro:build:setup`, so that it runs behind Astro's own plugin of the same order, which generates the pages.
 */
export function builtPlugin(onBuilt: (directory: string) => Promise<void>) {
  return {
    name: 'astro-snippets:built',
    enforce: 'post' as const,
    buildApp: {
      order: 'post' as const,
      async handler({ environments }: Builder) {
        const { client } = environments;
        if (client !== undefined) await onBuilt(client.config.build.outDir);
      },
    },
  };
}

const name = 'astro-snippets:last';

/** An integration that runs behind all others. One that finds itself not last adds another behind itself, until it is. */
export function lastIntegration(onDone: (directory: URL) => Promise<void>): AstroIntegration {
  let isLast = true;
  return {
    name,
    hooks: {
      'astro:config:setup'({ config, updateConfig }) {
        isLast = config.integrations.at(-1)?.name === name;
        if (!isLast) updateConfig({ integrations: [lastIntegration(onDone)] });
      },
      async 'astro:build:done'({ dir }) {
        if (isLast) await onDone(dir);
      },
    },
  };
}
