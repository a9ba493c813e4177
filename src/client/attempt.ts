import type { Dispatcher } from 'undici';
import type { Limits } from './limits.ts';
import { loadUndici } from './load-undici.ts';

/** An answer of the service, whole: its body has arrived to the last byte. */
export interface Answer {
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  body: string;
}

/** Why there is no whole answer. `reason` is a short text of our own or of Node's, not yet cleaned. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly kind: 'network' | 'timeout' | 'certificate' | 'too-large';

  constructor(kind: NoAnswer['kind'], reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/**
 * Makes one request and reads the whole of its answer within `milliseconds`. Redirects are not followed,
 * compressed bodies are not asked for.
 *
 * @throws NoAnswer, or the reason of `signal` when the caller aborted.
 */
export async function attempt(
  dispatcher: Dispatcher,
  url: string,
  authorization: string,
  limits: Limits,
  milliseconds: number,
  signal: AbortSignal,
): Promise<Answer> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), milliseconds);
  try {
    const response = await loadUndici().request(url, {
      dispatcher,
      signal: AbortSignal.any([signal, timeout.signal]),
      headers: {
        authorization,
        accept: 'application/json, application/problem+json',
        'accept-encoding': 'identity',
        'user-agent': 'astro-snippets',
      },
    });
    const bytes = await response.body.bytes();
    return {
      status: response.statusCode,
      contentType: single(response.headers['content-type']) ?? '',
      retryAfter: single(response.headers['retry-after']),
      body: decode(bytes),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (timeout.signal.aborted) {
      throw new NoAnswer('timeout', `no whole answer within ${Math.round(milliseconds) / 1000} s`);
    }
    throw explain(error, limits);
  } finally {
    clearTimeout(timer);
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** A body that is not UTF-8 is read as empty: no JSON, so never content, while its status still counts. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
}

const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

// What Node says of a certificate that does not verify, after OpenSSL; UNSPECIFIED is whatever it has no name for, such
// as a signature that is too weak. None of these passes by itself.
const certificateFlaws = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_CHAIN_TOO_LONG',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CRL_HAS_EXPIRED',
  'CRL_NOT_YET_VALID',
  'CRL_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_TLS_CERT_ALTNAME_FORMAT',
  'ERROR_IN_CERT_NOT_AFTER_FIELD',
  'ERROR_IN_CERT_NOT_BEFORE_FIELD',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
  'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  'UNABLE_TO_GET_CRL',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNSPECIFIED',
]);

/** Puts an error of the HTTP library, of the socket or of TLS into our words. */
function explain(error: unknown, limits: Limits): NoAnswer {
  const { code = '', message } = causeOf(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new NoAnswer('too-large', `the answer is longer than ${limits.bodyBytes} bytes`);
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new NoAnswer('timeout', `no connection within ${limits.connectTimeout / 1000} s`);
  }
  if (timeouts.has(code)) {
    return new NoAnswer('timeout', `the service was silent for ${limits.idleTimeout / 1000} s`);
  }
  if (certificateFlaws.has(code)) return new NoAnswer('certificate', `${message} (${code})`);
  return new NoAnswer('network', code === '' || message.includes(code) ? message : `${message} (${code})`);
}

/** The innermost cause: "connect ECONNREFUSED", and not the "fetch failed" around it. */
function causeOf(error: unknown): { code?: string; message: string } {
  let cause = error as { code?: unknown; message?: unknown; cause?: unknown; errors?: unknown };
  for (let depth = 0; depth < 5; depth++) {
    const next = cause.cause ?? (Array.isArray(cause.errors) ? cause.errors[0] : undefined);
    if (typeof next !== 'object' || next === null) break;
    cause = next;
  }
  return {
    ...(typeof cause.code === 'string' ? { code: cause.code } : {}),
    message: typeof cause.message === 'string' ? cause.message : 'the connection failed',
  };
}
