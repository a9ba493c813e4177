import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificate, createCertificate } from '../../../playground/service/certificate.ts';

/**
 * Makes the authority of this test run. Vitest calls this before the first worker starts.
 *
 * Node reads NODE_EXTRA_CA_CERTS only when a process starts, so the variable is set here: commands that run
 * in a worker trust every test service, as a user's process would.
 */
export default async function createAuthority(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run may have made the authority already.
  if (process.env['TEST_AUTHORITY'] !== undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'snippets-authority-'));
  const certificate = await createCertificate();
  // Other authorities stay trusted, for instance that of a package registry.
  const { NODE_EXTRA_CA_CERTS: others } = process.env;
  const trusted = others === undefined ? '' : readFileSync(others, 'utf8');
  await writeFile(join(folder, 'authority.pem'), `${certificate.authority}\n${trusted}`);
  await writeFile(join(folder, 'certificate.json'), JSON.stringify(certificate));
  process.env['TEST_AUTHORITY'] = folder;
  process.env['NODE_EXTRA_CA_CERTS'] = join(folder, 'authority.pem');
  return () => rm(folder, { recursive: true });
}

/** A folder for this test run, removed after it. */
export function runFolder(): string {
  const { TEST_AUTHORITY } = process.env;
  if (TEST_AUTHORITY === undefined)
    throw new Error('The test authority is missing: run the tests with Vitest.');
  return TEST_AUTHORITY;
}

/** The file of the authority: the value of NODE_EXTRA_CA_CERTS for a process that uses a test service. */
export function authorityFile(): string {
  return join(runFolder(), 'authority.pem');
}

/** The certificate of every test service. */
export function serviceCertificate(): Certificate {
  return JSON.parse(readFileSync(join(runFolder(), 'certificate.json'), 'utf8'));
}
