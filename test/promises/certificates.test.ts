import { Socket } from 'node:net';
import tls from 'node:tls';
import selfsigned from 'selfsigned';
import { afterEach, expect, test, vi } from 'vitest';
import {
  certificate,
  httpServer,
  makeCertificate,
  rawServer,
  type TestCertificate,
} from '../support/http/tls-server.ts';
import { clientOf, serve } from '../support/http/wire.ts';
import { failureOf } from '../support/tools/failure.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const fine = (_request: unknown, response: { end(body: string): unknown }) => {
  response.end('{"content":"fine"}');
};

/** A certificate signed by its own, unknown authority. */
async function signed(algorithm = 'sha256'): Promise<TestCertificate> {
  const authority = await selfsigned.generate([{ name: 'commonName', value: 'Unknown authority' }], {
    keyType: 'ec',
    algorithm,
    extensions: [{ name: 'basicConstraints', cA: true }],
  });
  const made = await selfsigned.generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
    ca: { key: authority.private, cert: authority.cert },
  });
  return { key: made.private, cert: made.cert, ca: authority.cert };
}

const past = { notBeforeDate: new Date('2020-01-01'), notAfterDate: new Date('2020-02-01') };

test.for([
  ['that is self-signed', async () => certificate, undefined],
  ['of an unknown authority', () => signed(), undefined],
  ['with a weak signature', () => signed('sha1'), 'own'],
  ['for another host', () => makeCertificate({ name: 'elsewhere.test' }), 'own'],
  ['that has expired', () => makeCertificate(past), 'own'],
  [
    'that is not valid yet',
    () => makeCertificate({ notBeforeDate: new Date('2090-01-01'), notAfterDate: new Date('2090-02-01') }),
    'own',
  ],
] as const)(
  'a certificate %s is rejected after one attempt, even with NODE_TLS_REJECT_UNAUTHORIZED=0',
  async ([, make, trust]) => {
    const using = await make();
    let asked = 0;
    const server = await serve(
      httpServer(
        (request, response) => {
          asked += 1;
          fine(request, response);
        },
        { using },
      ),
    );
    for (const allowed of [undefined, '0']) {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', allowed);
      const client = clientOf(server, { ca: trust === 'own' ? using.ca : undefined });
      expect(await failureOf(client.get(42))).toMatchObject({ code: 'certificate', attempts: 1 });
      expect(client.counts).toEqual({ requests: 1, retries: 0, fallbacks: 0 });
    }
    expect(asked).toBe(0);
  },
);

/** Makes every TLS connection of this process fail with one of Node's error codes. Returns a client and its error. */
async function failTls(code: string) {
  vi.spyOn(tls, 'connect').mockImplementation((() => {
    const socket = new Socket();
    process.nextTick(() => socket.destroy(Object.assign(new Error('not valid'), { code })));
    return socket;
  }) as unknown as typeof tls.connect);
  const retrieveBaseUrl = 'https://localhost:9/other';
  const client = clientOf({ origin: 'https://localhost:9' }, { retrieveBaseUrl });
  const error = await failureOf(client.get(42));
  expect(error.message).toContain(`not valid (${code})`);
  return { client, error };
}

// The codes for invalid certificates from Node's documentation, from Node's own check of host names, and the one for
// OpenSSL errors that Node has no name for.
test.for(
  `CERT_CHAIN_TOO_LONG CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REJECTED CERT_REVOKED
  CERT_SIGNATURE_FAILURE CERT_UNTRUSTED CRL_HAS_EXPIRED CRL_NOT_YET_VALID CRL_SIGNATURE_FAILURE
  DEPTH_ZERO_SELF_SIGNED_CERT ERROR_IN_CERT_NOT_AFTER_FIELD ERROR_IN_CERT_NOT_BEFORE_FIELD
  ERR_TLS_CERT_ALTNAME_FORMAT ERR_TLS_CERT_ALTNAME_INVALID HOSTNAME_MISMATCH INVALID_CA INVALID_PURPOSE
  PATH_LENGTH_EXCEEDED SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY
  UNABLE_TO_DECRYPT_CERT_SIGNATURE UNABLE_TO_GET_CRL UNABLE_TO_GET_ISSUER_CERT
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE UNSPECIFIED`.split(/\s+/),
)('the error %s is a certificate error: one attempt, without a fallback', async (code) => {
  const { client, error } = await failTls(code);
  expect(error).toMatchObject({ code: 'certificate', variant: 'render', attempts: 1 });
  expect(client.counts).toEqual({ requests: 1, retries: 0, fallbacks: 0 });
});

test.for(['ECONNRESET', 'EPROTO', 'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'CERT'])(
  'the error %s is a network error: it is retried, with a fallback',
  async (code) => {
    const { error } = await failTls(code);
    expect(error).toMatchObject({ code: 'network', variant: 'retrieve', attempts: 5 });
  },
);

test('the option ca trusts an authority, as a string or as a list', async () => {
  const using = await signed();
  const server = await serve(httpServer(fine, { using }));
  await clientOf(server, { ca: using.ca }).get(42);
  await clientOf(server, { ca: [certificate.ca, using.ca] }).get(42);
});

test('the option ca keeps the authorities that Node trusts', async () => {
  const known = await signed();
  const before = tls.getCACertificates('default');
  tls.setDefaultCACertificates([known.ca]);
  try {
    const server = await serve(httpServer(fine, { using: known }));
    expect(await clientOf(server, { ca: certificate.ca }).get(42)).toMatchObject({ content: 'fine' });
  } finally {
    tls.setDefaultCACertificates(before);
  }
});

test('an invalid certificate of a proxy is rejected, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  const server = await serve(httpServer(fine));
  let asked = 0;
  const proxy = await serve(
    rawServer(
      (socket) => {
        asked += 1;
        socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      },
      { using: await makeCertificate() },
    ),
  );
  vi.stubEnv('NO_PROXY', '');
  vi.stubEnv('no_proxy', '');
  vi.stubEnv('HTTPS_PROXY', proxy.origin);
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  expect(await failureOf(clientOf(server).get(42))).toMatchObject({ code: 'certificate', attempts: 1 });
  expect(asked).toBe(0);
});
