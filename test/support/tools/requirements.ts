import { spawnSync } from 'node:child_process';
import { findChromium } from './browser.ts';

const isThere = (command: string, ...argv: string[]) =>
  spawnSync(command, argv, { shell: process.platform === 'win32' }).status === 0;

/** Programs that the end-to-end tests need besides npm, and how to get them. */
const requirements = [
  {
    name: 'Chromium',
    isThere: () => findChromium() !== undefined,
    install: 'apt-get install chromium, or npx playwright-core install chromium, or set CHROMIUM_PATH',
  },
  {
    name: 'Redis',
    isThere: () => isThere('redis-server', '--version'),
    install: 'apt-get install redis-server, or brew install redis',
  },
  {
    name: 'Hugo',
    isThere: () => isThere('hugo', 'version'),
    install: 'apt-get install hugo, or brew install hugo',
  },
];

/**
 * Fails if a program is missing. Vitest calls this before the tests: a skipped test would look like a passed
 * one.
 */
export default function checkRequirements(): void {
  const missing = requirements.filter((one) => !one.isThere());
  if (missing.length === 0) return;
  const lines = missing.map(({ name, install }) => `- ${name}: ${install}`);
  throw new Error(`The end-to-end tests need what is not installed here:\n${lines.join('\n')}`);
}
