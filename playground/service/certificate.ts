import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import selfsigned from 'selfsigned';

export interface Certificate {
  key: string;
  cert: string;
  /** The authority that signed it (PEM), which clients have to trust. */
  authority: string;
}

const day = 24 * 60 * 60 * 1000;

/** The certificate of the last start, so that sites still trust it, or a new one. */
export async function keptCertificate(file: string): Promise<Certificate> {
  if (existsSync(file)) {
    const kept: Certificate = JSON.parse(readFileSync(file, 'utf8'));
    if (Date.parse(new X509Certificate(kept.cert).validTo) > Date.now() + day) return kept;
  }
  const made = await createCertificate();
  // Renamed into place, since half a file could not be read.
  writeFileSync(`${file}.new`, JSON.stringify(made), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return made;
}

/**
 * Makes a certificate for this machine, and an authority whose key is not kept, so that it cannot sign
 * others.
 */
export async function createCertificate(): Promise<Certificate> {
  const key = { keyType: 'ec', algorithm: 'sha256' } as const;
  // Of two authorities of one name, a client may check only the one that has not signed.
  const name = `Snippet playground authority ${randomBytes(4).toString('hex')}`;
  const authority = await selfsigned.generate([{ name: 'commonName', value: name }], {
    ...key,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const leaf = await selfsigned.generate([{ name: 'commonName', value: 'localhost' }], {
    ...key,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'keyUsage', digitalSignature: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { key: leaf.private, cert: leaf.cert, authority: authority.cert };
}
