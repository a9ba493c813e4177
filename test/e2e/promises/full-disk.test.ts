import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { temporaryService } from '../../support/service/service.ts';
import { astroCommand } from '../../support/site/installation.ts';
import { temporarySite } from '../../support/site/site.ts';
import { cleanEnvironment } from '../../support/tools/environment.ts';

/** Runs a shell script where `dist` is a disk of 1 MB. A mount namespace needs no privileges on Linux. */
function onSmallDisk(cwd: string, script: string, environment: Record<string, string>) {
  const mounted = `mkdir -p dist && mount -t tmpfs -o size=1m tmpfs dist && { ${script}; }`;
  const unshared = ['--user', '--map-root-user', '--mount', 'sh', '-c', mounted];
  const env = { ...cleanEnvironment(), ...environment, NO_COLOR: '1', ASTRO_TELEMETRY_DISABLED: '1' };
  return new Promise<{ exitCode: number; output: string }>((resolve) => {
    const child = execFile('unshare', unshared, { cwd, env }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? 1, output: stdout + stderr }),
    );
  });
}

test.runIf(process.platform === 'linux')(
  'a full disk while pages are inlined fails the build, is named, and leaves no half page',
  async () => {
    const service = await temporaryService({ 1: '<b>one</b>'.repeat(40_000) });
    const page = '<p><snippet-embed id="1"></snippet-embed></p>\n';
    const pages = ['a', 'b', 'c', 'd'].map((name) => [`src/pages/${name}.html`, page]);
    const site = await temporarySite(Object.fromEntries(pages));
    const { exitCode, output } = await onSmallDisk(
      site.directory,
      `"${process.execPath}" "${astroCommand}" build; status=$?; echo; for file in $(find dist -name '*.html' | sort); do echo "FILE $file $(wc -c < $file) $(tail -c 5 $file)"; done; exit $status`,
      service.environment,
    );
    expect(output).toContain(
      '[astro-snippets/unwritable-file] b/index.html could not be written: ENOSPC: no space left on device, write. It was removed.',
    );
    expect(exitCode).toBe(1);
    const left = [...output.matchAll(/^FILE (\S+) (\d+) (.*)$/gm)];
    expect(left.map(([, file, , end]) => [file, end])).toEqual([['dist/a/index.html', '</p>']]);
    expect(Number(left[0]?.[2])).toBeGreaterThan(400_000);
    expect(await site.list('node_modules/.astro/astro-snippets')).not.toContain('manifest.json');
  },
);
