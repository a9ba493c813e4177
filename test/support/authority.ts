import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificate, createCertificate } from '../../playground/service/certificate.ts';

// One authority for a whole run of tests. Node reads NODE_EXTRA_CA_CERTS only when a process starts, so it is set before
// there is a worker: commands that run inside of it trust every test service, as a user's process would.

/** Called by Vitest before the first worker starts. */
export default async function createAuthority(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run has made it already.
  if (process.env['TEST_AUTHORITY'] !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'snippets-authority-'));
  const certificate = await createCertificate();
  // What the machine trusts besides, to reach a package registry, stays trusted.
  const { NODE_EXTRA_CA_CERTS: others } = process.env;
  const trusted = others === undefined ? '' : readFileSync(others, 'utf8');
  await writeFile(join(folder, 'authority.pem'), `${certificate.authority}\n${trusted}`);
  await writeFile(join(folder, 'certificate.json'), JSON.stringify(certificate));
  process.env['TEST_AUTHORITY'] = folder;
  process.env['NODE_EXTRA_CA_CERTS'] = join(folder, 'authority.pem');
  return () => rm(folder, { recursive: true });
}

/** A folder of this run of tests alone, which is gone after it. */
export function runFolder(): string {
  const { TEST_AUTHORITY } = process.env;
  if (TEST_AUTHORITY === undefined)
    throw new Error('The test authority is missing: run the tests with Vitest.');
  return TEST_AUTHORITY;
}

/** The authority as a file: the value of NODE_EXTRA_CA_CERTS for a process that is to reach a test service. */
export function authorityFile(): string {
  return join(runFolder(), 'authority.pem');
}

/** What every test service shows to its clients. */
export function serviceCertificate(): Certificate {
  return JSON.parse(readFileSync(join(runFolder(), 'certificate.json'), 'utf8'));
}
