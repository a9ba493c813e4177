import { createHmac, timingSafeEqual } from 'node:crypto';

/** What is known of a call before its body is read. */
export interface CallHead {
  method: string | undefined;
  /** With its query. */
  path: string | undefined;
  /** The names are in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface CallConditions {
  /** In milliseconds since the epoch, on the clock that is compared with the sender's. */
  now: number;
  /** How many bodies were read in this second before. */
  readThisSecond: number;
}

/** Each refusal: the status of the answer, and what the log says. */
export const refusals = {
  'other-path': { status: 404, text: 'another path (404)' },
  'other-method': { status: 405, text: 'another method than POST (405)' },
  unsigned: { status: 401, text: 'no signature (401)' },
  'other-time': { status: 401, text: 'a time more than 5 minutes from that of this machine (401)' },
  'wrong-signature': { status: 401, text: 'wrong signature (401)' },
  'too-long': { status: 413, text: 'a body of more than 64 KiB (413)' },
  'too-many': { status: 429, text: 'too many in one second (429)' },
  // The sender may have missed the first answer. Any other status would make it repeat the call once more.
  repeated: { status: 202, text: 'the id of an earlier call (202)' },
} as const satisfies Record<string, { status: number; text: string }>;

/** Why a call has no effect. */
export type Refusal = keyof typeof refusals;

/** In bytes. The payload of an event takes less than 1 KiB. */
export const longestBody = 64 * 1024;

/** The most bodies that are read, and signatures that are computed, in one second. */
export const mostPerSecond = 50;

/** How far the time of a call may be from that of this machine, in milliseconds. */
const tolerance = 5 * 60_000;

const longestId = 256;
// Several while a secret is replaced. A list without a limit would be work without a limit.
const mostSignatures = 10;

/**
 * Decides on a call before its body is read, by work that does not grow with what was sent.
 *
 * @returns why it is refused; `undefined` if its body decides.
 */
export function judgeHead(
  { method, path, headers }: CallHead,
  { now, readThisSecond }: CallConditions,
): Refusal | undefined {
  if (path !== '/') return 'other-path';
  if (method !== 'POST') return 'other-method';
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  // A full stop separates them in what is signed. If they contained one, a part of one could pass for the other.
  if (typeof id !== 'string' || id.length > longestId || !/^[!-\-/-~]+$/.test(id)) return 'unsigned';
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return 'unsigned';
  if (typeof signatures !== 'string') return 'unsigned';
  if (Math.abs(now - Number(timestamp) * 1000) > tolerance) return 'other-time';
  if (Number(headers['content-length'] ?? 0) > longestBody) return 'too-long';
  return readThisSecond >= mostPerSecond ? 'too-many' : undefined;
}

/**
 * Decides on a call whose head was not refused.
 *
 * @param isKnown whether a call with this id was accepted before.
 * @returns why it has no effect; `undefined` if it is accepted.
 */
export function judgeBody(
  { headers }: CallHead,
  body: Uint8Array,
  key: Uint8Array,
  isKnown: (id: string) => boolean,
): Refusal | undefined {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const expected = Buffer.from(`v1,${digest}`);
  const isSigned = String(signatures)
    .split(' ', mostSignatures)
    .map((signature) => Buffer.from(signature))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
  if (!isSigned) return 'wrong-signature';
  return isKnown(String(id)) ? 'repeated' : undefined;
}

const prefix = 'whsec_';
const shortestSecret = 16;

/**
 * The key that calls are signed with: what is encoded in a secret of the form `whsec_` + base64, as Standard Webhooks
 * writes them; any other secret as it is.
 *
 * @returns if the secret is of no use, what is wrong with it, as the end of a sentence that does not show it.
 */
export function signingKey(secret: string | undefined): Buffer | string {
  if (!secret) return 'is not set';
  if (!/^[!-~]+$/.test(secret)) return 'contains white space, a control character or a non-ASCII character';
  if (secret.length < shortestSecret) return `has fewer than ${shortestSecret} characters`;
  if (!secret.startsWith(prefix)) return Buffer.from(secret);
  const encoded = secret.slice(prefix.length);
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return `has something else than base64 after ${prefix}`;
  const key = Buffer.from(encoded, 'base64');
  return key.length < shortestSecret ? `has fewer than ${shortestSecret} bytes after ${prefix}` : key;
}

/** The ids of calls that were accepted. */
export interface KnownIds {
  has(id: string): boolean;
  add(id: string): void;
}

/**
 * Remembers each id until no call with its timestamp would be accepted any more, and at most twice as long. Since no more
 * than {@link mostPerSecond} are added, that limits their number.
 *
 * @param now in milliseconds.
 */
export function rememberIds(now: () => number): KnownIds {
  // A timestamp may be ahead of this machine's clock, and is accepted until it is as far behind.
  const period = 2 * tolerance;
  let recent = new Set<string>();
  let older = new Set<string>();
  let since = now();
  const forget = () => {
    const passed = now() - since;
    if (passed < period) return;
    older = passed < 2 * period ? recent : new Set();
    recent = new Set();
    since = now();
  };
  return {
    has(id) {
      forget();
      return recent.has(id) || older.has(id);
    },
    add(id) {
      forget();
      recent.add(id);
    },
  };
}
