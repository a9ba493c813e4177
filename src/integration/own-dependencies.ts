import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const codeFolder = fileURLToPath(new URL('..', import.meta.url)).replaceAll('\\', '/');

/**
 * Makes Vite bundle the dependencies of the client and of live snippets into a server where the project has other
 * versions of them.
 *
 * Vite leaves an import out of a server's bundle if a package of that name is found from the project's root. The
 * version there may be another one: npm keeps ours below our own folder then, where the bundle does not look.
 */
export function ownDependencies(root: URL): Plugin {
  return {
    name: 'astro-snippets:dependencies',
    apply: 'build',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^(?:p-retry|undici|zod|ms|parse5|entities\/\w+)$/ },
      async handler(id, importer) {
        if (!importer?.replaceAll('\\', '/').startsWith(codeFolder)) return;
        const folder = packageFolder(id, import.meta.url);
        if (!folder || folder === packageFolder(id, new URL('package.json', root).href)) return;
        // A path, not a name, is never left out. A package's main module is found from its folder.
        const path = id.includes('/') ? createRequire(import.meta.url).resolve(id) : folder;
        return this.resolve(path, importer, { skipSelf: true });
      },
    },
  };
}

/** The folder of a package, as a module finds it. */
function packageFolder(name: string, from: string): string | undefined {
  try {
    return /^.*[\\/]node_modules[\\/][^\\/]+/.exec(createRequire(from).resolve(name))?.[0];
  } catch {
    return undefined;
  }
}
