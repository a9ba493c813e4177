import type { ProblemStatus } from './problems.ts';
import type { Store } from './store/index.ts';
import type { ApiKey, KeyKind } from './store/keys.ts';
import type { Organization } from './store/organizations.ts';

export type Operation = 'render' | 'retrieve';

/**
 * Which operations each kind of key may perform. The specification does not show it (section 5.9); here a public
 * key, which "has limited privileges", may retrieve and not render.
 */
export const scopes: Readonly<Record<KeyKind, readonly Operation[]>> = {
  secret: ['render', 'retrieve'],
  public: ['retrieve'],
};

export interface Caller {
  key: ApiKey;
  organization: Organization;
}

export interface Denial {
  status: Extract<ProblemStatus, 401 | 402 | 403>;
  detail: string;
  headers: Record<string, string>;
  /** Who was denied, where that is known. */
  caller?: Caller;
}

/**
 * Decides whether a request may be served (specification, section 5): first who asks (401), then whether the
 * organization may be served at all (402), then whether this key may do this (403). What exists (404) is asked
 * only after that, so that no one learns of it who may not know.
 */
export function authenticate(
  store: Store,
  authorization: string | undefined,
  operation: Operation,
): Caller | Denial {
  const deny = (status: Denial['status'], detail: string, more: Partial<Denial> = {}): Denial => ({
    status,
    detail,
    headers: {},
    ...more,
  });
  if (authorization === undefined) {
    const headers = { 'www-authenticate': 'Bearer' };
    return deny(401, 'No API key was provided. Send it as a bearer credential.', { headers });
  }
  const secret = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  const key = secret === undefined ? undefined : store.keys.find(secret);
  const organization = key && store.organizations.get(key.organizationId);
  if (key === undefined || organization === undefined) {
    const headers = { 'www-authenticate': 'Bearer error="invalid_token"' };
    return deny(401, 'The API key is not valid: it is unknown or was revoked.', { headers });
  }
  const caller = { key, organization };
  if (organization.subscription === 'expired')
    return deny(402, `The subscription of ${organization.name} has expired.`, { caller });
  if (!scopes[key.kind].includes(operation))
    return deny(403, `A ${key.kind} API key may not ${operation} snippets.`, { caller });
  return caller;
}
