import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AstroConfig, AstroIntegrationLogger, HookParameters, IntegrationResolvedRoute } from 'astro';
import { type ComponentBridge, openBridge } from '../embed/component-bridge.ts';
import { contains } from '../files/paths.ts';
import type { ClassFile } from '../inlining/class-file.ts';
import type { ParsedOptions } from '../settings/options.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import { SiteSource } from '../source/site-source.ts';

/** A site as it is known once its Astro config is done. */
export interface Site {
  /** The command that Astro runs. `sync` only loads collections, like a build that generates no pages. */
  command: HookParameters<'astro:config:setup'>['command'];
  /** Through which `<Snippet>` announces embeds on pages of this site. */
  bridge: ComponentBridge;
  options: ParsedOptions;
  config: AstroConfig;
  urls: SiteUrls;
  sources: SiteSource;
  /** The file of class names for CSS tools (class-file.ts); `undefined` without the option `classes`. */
  classes: ClassFile | undefined;
  /** Whether some pages are rendered on demand. Astro then moves files after snippets are inlined. */
  isServer: boolean;
  /** Astro's logger, wrapped so that control characters are removed from every line. */
  logger: AstroIntegrationLogger;
}

/** Opens a site whose Astro config is done. */
export async function openSite(
  known: Pick<Site, 'command' | 'options' | 'config' | 'isServer' | 'logger'>,
  routes: readonly IntegrationResolvedRoute[],
): Promise<Site> {
  const { base, site, trailingSlash, build, root, srcDir, publicDir, outDir } = known.config;
  const folders = {
    root: fileURLToPath(root),
    srcDir: fileURLToPath(srcDir),
    publicDir: fileURLToPath(publicDir),
    outDir: fileURLToPath(outDir),
  };
  return {
    ...known,
    bridge: openBridge(codeFolders(known)),
    urls: { site, base, trailingSlash, format: build.format },
    sources: new SiteSource(folders, base, routes),
    classes: await openClasses(known),
  };
}

/** The URLs of the folders from which code of the site runs. Node runs a file by its real path. */
function codeFolders({ command, config }: Pick<Site, 'command' | 'config'>): string[] {
  const { root, outDir, build } = config;
  if (command === 'dev') return [root.href];
  const realRoot = pathToFileURL(join(realpathSync(root), '/'));
  const output = outDir.href.replace(root.href, realRoot.href);
  const folders = [root.href, realRoot.href, outDir.href, output, build.server.href];
  // Astro renders pages from there if the output is outside of the folder in which the process runs.
  const isOutside = !contains(process.cwd(), fileURLToPath(outDir));
  if (isOutside) folders.push(pathToFileURL(join(process.cwd(), '.astro/')).href);
  return [...new Set(folders)];
}

/** The path of the class file in the project. It must not change, since style sheets of sites name it. */
const classFilePath = '.astro/integrations/astro-snippets/classes.html';

async function openClasses(known: Pick<Site, 'command' | 'options' | 'config'>): Promise<Site['classes']> {
  const { command, options, config } = known;
  // `astro sync` and `preview` make no CSS, and may lack write access, so they need no class file.
  const makesStyles = command === 'dev' || command === 'build';
  if (!options.classes || !makesStyles) return undefined;
  const { ClassFile } = await import('../inlining/class-file.ts');
  // A build drops the classes of the old file: before Vite bundles, it writes those of today's snippets.
  return new ClassFile(fileURLToPath(new URL(classFilePath, config.root)), command === 'dev');
}
