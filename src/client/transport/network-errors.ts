import { reasonOf } from '../../text/clean-text.ts';
import type { Limits } from '../limits.ts';
import { TransportError } from './transport.ts';

// Node's codes for invalid certificates. UNSPECIFIED may be a weak signature.
const certificateError =
  /^(?:ERR_TLS_CERT|(?!ERR_).*(?:_CERT|CERT_|_CRL|CRL_|ISSUER|SIGNATURE))|^(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED)$/;

const unreachableCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

export function toTransportError(error: unknown, limits: Limits, server: string): TransportError {
  const causes = innermost(error);
  const { code = '', message } = causes[0] as ErrorCause;
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new TransportError('too-large', `the answer is longer than ${limits.bodyBytes} bytes`);
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new TransportError('timeout', `no connection within ${limits.connectTimeout / 1000} s`);
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new TransportError('timeout', `${server} sent nothing for ${limits.idleTimeout / 1000} s`);
  }
  if (certificateError.test(code)) return new TransportError('certificate', `${message} (${code})`);
  const reason = code === '' || message.includes(code) ? message : `${message} (${code})`;
  const isUnreachable = causes.every(({ code = '' }) => unreachableCodes.has(code));
  return new TransportError('network', reason, isUnreachable);
}

type ErrorCause = Pick<NodeJS.ErrnoException, 'code' | 'message'>;

/** One cause for each IP address that was tried. */
function innermost(error: unknown): ErrorCause[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(innermost);
  if (!(error instanceof Error)) return [{ message: reasonOf(error) }];
  return error.cause === undefined ? [error] : innermost(error.cause);
}
