import { reasonOf } from '../../text/clean-text.ts';
import type { Limits } from '../limits.ts';
import { isTransportError, TransportError } from './transport.ts';

type ErrorCause = Pick<NodeJS.ErrnoException, 'code' | 'message'>;

/** Turns an error of the platform or undici into a TransportError. `server` is how its messages name the server. */
export function toTransportError(error: unknown, limits: Limits, server: string): TransportError {
  if (isTransportError(error)) return error;
  const causes = innermostCauses(error);
  const { code = '', message } = causes[0] as ErrorCause;

  switch (code) {
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return tooLargeError(limits);
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new TransportError('timeout', `no connection within ${limits.connectTimeout / 1000} s`);
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return silenceError(limits, server);
  }
  if (certificateCode.test(code)) return new TransportError('certificate', `${message} (${code})`);
  // Deno's errors have no code, and messages that name the whole URL.
  const denoReason = /: client error \(Connect\): (.*)/s.exec(message)?.[1] ?? '';
  if (/certificate/.test(denoReason)) return new TransportError('certificate', denoReason);

  const reason = code === '' || message.includes(code) ? message : `${message} (${code})`;
  const isUnreachable =
    causes.every(({ code = '' }) => unreachableCodes.has(code)) ||
    /^(?:tcp connect|dns) error/.test(denoReason);
  return new TransportError('network', denoReason || reason, isUnreachable);
}

/** The error of a body that is longer than is read. */
export const tooLargeError = ({ bodyBytes }: Limits): TransportError =>
  new TransportError('too-large', `the answer is longer than ${bodyBytes} bytes`);

/** The error of a request during which the server is silent for too long. */
export const silenceError = ({ idleTimeout }: Limits, server: string): TransportError =>
  new TransportError('timeout', `${server} sent nothing for ${idleTimeout / 1000} s`);

/**
 * Matches Node's and OpenSSL's error codes for a certificate that does not verify. OpenSSL's UNSPECIFIED
 * covers all flaws without a code of their own, such as a signature that is too weak.
 */
const certificateCode =
  /^(?:ERR_TLS_CERT|(?!ERR_).*(?:_CERT|CERT_|_CRL|CRL_|ISSUER|SIGNATURE))|^(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED)$/;

/** Node's error codes for a port that refuses connections, and for a host name that does not resolve. */
const unreachableCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** The errors at the bottom of a chain of causes: one for each IP address of the server that was tried. */
function innermostCauses(error: unknown): ErrorCause[] {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.flatMap(innermostCauses);
  if (!(error instanceof Error)) return [{ message: reasonOf(error) }];
  return error.cause === undefined ? [error] : innermostCauses(error.cause);
}

/**
 * Whether undici threw an error of its code, or of the code that calls it, not one of the network: the same request
 * would fail again. `fetch` throws a TypeError for both, so this does not apply to it.
 */
export function isErrorOfCode(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, message }: ErrorCause = error;
  if (/^UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED)$/.test(code ?? '')) return true;
  return errorsOfCode.some((errorClass) => error instanceof errorClass) && !fetchFailure.test(message);
}

const errorsOfCode = [TypeError, ReferenceError, SyntaxError, RangeError, EvalError, URIError];

/** Matches the TypeErrors with which mocks such as msw imitate how `fetch` reports a failure of the network. */
const fetchFailure = /^(?:network error|fetch failed|failed to fetch)$/i;
