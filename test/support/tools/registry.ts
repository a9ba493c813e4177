import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type LocalServer, startLocalServer } from '../http/local-server.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../../..');

/** A running npm registry. */
export interface Registry extends LocalServer {
  /** The requested paths. */
  asked: string[];
}

/** Packs this package as for publishing. The package has to be built. @returns the tarball. */
export async function packPackage(folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: repository,
    shell: process.platform === 'win32',
  });
  return join(folder, JSON.parse(stdout)[0].filename);
}

/**
 * Starts a registry with this package, as if it were published. Requests for other packages are redirected to
 * npm's configured registry.
 *
 * @param tarball the packed package.
 */
export async function startRegistry(tarball: string): Promise<Registry> {
  const bytes = await readFile(tarball);
  const manifest = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
  const { name, version } = manifest;
  const { stdout } = await run('npm', ['config', 'get', 'registry'], { shell: process.platform === 'win32' });
  const others = stdout.trim().replace(/\/$/, '');
  const asked: string[] = [];
  const server = await startLocalServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    asked.push(path);
    const published = {
      ...manifest,
      dist: {
        tarball: `${server.url}/${name}/-/${name}-${version}.tgz`,
        integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
      },
    };
    const answers: Record<string, unknown> = {
      [`/${name}`]: { name, 'dist-tags': { latest: version }, versions: { [version]: published } },
      [`/${name}/latest`]: published,
    };
    if (path === `/${name}/-/${name}-${version}.tgz`) response.end(bytes);
    else if (path in answers)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers[path]));
    // `astro add` first looks for an official integration.
    else if (path.startsWith(`/@astrojs/${name}/`)) response.writeHead(404).end('{}');
    else response.writeHead(302, { location: others + request.url }).end();
  });
  return { ...server, asked };
}
