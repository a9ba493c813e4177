import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment } from '../support/environment.ts';
import { astroCommand } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>'.repeat(40_000) });
  site = await createSite(
    Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [
        `src/pages/${name}.html`,
        '<p><snippet-embed id="1"></snippet-embed></p>\n',
      ]),
    ),
  );
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

/** Runs a shell script in which `dist` is a disk of 1 MB. A mount namespace needs no rights on Linux. */
function onSmallDisk(script: string): Promise<{ exitCode: number; output: string }> {
  const mounted = `mkdir -p dist && mount -t tmpfs -o size=1m tmpfs dist && { ${script}; }`;
  return new Promise((resolve) => {
    const child = execFile(
      'unshare',
      ['--user', '--map-root-user', '--mount', 'sh', '-c', mounted],
      {
        cwd: site.directory,
        env: { ...cleanEnvironment(), ...service.environment, NO_COLOR: '1', ASTRO_TELEMETRY_DISABLED: '1' },
      },
      (_error, stdout, stderr) => resolve({ exitCode: child.exitCode ?? 1, output: stdout + stderr }),
    );
  });
}

test.runIf(process.platform === 'linux')(
  'a disk that is full while pages are inlined fails the build, is named, and leaves no half page',
  async () => {
    const { exitCode, output } = await onSmallDisk(
      `"${process.execPath}" "${astroCommand}" build; status=$?; echo; for file in $(find dist -name '*.html' | sort); do echo "FILE $file $(wc -c < $file) $(tail -c 5 $file)"; done; exit $status`,
    );
    expect(output).toContain(
      '[astro-snippets/unwritable-file] b/index.html could not be written: the disk is full (ENOSPC). It was removed.',
    );
    expect(exitCode).toBe(1);
    const left = [...output.matchAll(/^FILE (\S+) (\d+) (.*)$/gm)].map(([, file, size, end]) => ({
      file,
      size: Number(size),
      end,
    }));
    expect(left.map(({ file }) => file)).toEqual(['dist/a/index.html']);
    for (const { size, end } of left) {
      expect(size).toBeGreaterThan(400_000);
      expect(end).toBe('</p>');
    }
    expect(await site.list('node_modules/.astro/astro-snippets')).not.toContain('manifest.json');
  },
);
