import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const run = promisify(execFile);

/**
 * Starts a browser: the one in CHROMIUM_PATH, the system's, or one that is installed now, by Playwright or, for root on
 * Debian, by apt. Fails if there is none, and says what to do: a skipped test would look like one that passed.
 */
export async function startBrowser(): Promise<Browser> {
  const executablePath = await findChromium();
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

async function findChromium(): Promise<string> {
  const known = [process.env['CHROMIUM_PATH'], chromium.executablePath(), ...installed].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  );
  if (known !== undefined) return known;
  const failures: string[] = [];
  const cli = join(dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')), 'cli.js');
  const attempts: [command: string, ...arguments_: string[]][] = [
    [process.execPath, cli, 'install', 'chromium'],
  ];
  if (process.getuid?.() === 0) {
    attempts.unshift([
      'sh',
      '-c',
      'apt-get update && apt-get install --yes --no-install-recommends chromium',
    ]);
  }
  for (const [command, ...arguments_] of attempts) {
    try {
      await run(command, arguments_, { timeout: 300_000 });
      const found = [chromium.executablePath(), ...installed].find((path) => existsSync(path));
      if (found !== undefined) return found;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new Error(
    `No browser was found for the tests. Install Chromium (Debian: apt-get install chromium; elsewhere: npx playwright-core install chromium), or set CHROMIUM_PATH.\n${failures.join('\n')}`,
  );
}
