import type { AstroIntegration } from 'astro';

const name = 'astro-snippets:last';

/**
 * An integration that runs behind all others. One that finds itself not last adds another behind itself, until it is.
 *
 * @param onDone called in the last `astro:build:done` of all.
 */
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
