import selfsigned from 'selfsigned';

export interface Certificate {
  key: string;
  cert: string;
  /** The authority that signed it (PEM): what a client has to trust. */
  authority: string;
}

/**
 * Makes a certificate for this machine alone, and an authority that signs it and nothing else: its key is not
 * kept. Both are new at each start, so that nobody is tempted to trust them for good.
 */
export async function createCertificate(): Promise<Certificate> {
  const key = { keyType: 'ec', algorithm: 'sha256' } as const;
  const authority = await selfsigned.generate(
    [{ name: 'commonName', value: 'Snippet playground authority' }],
    {
      ...key,
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    },
  );
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
