import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { ProblemStatus } from './problems.ts';
import type { Store } from './store/index.ts';
import type { ApiKey, KeyKind } from './store/keys.ts';
import type { Organization } from './store/organizations.ts';

export type Operation = 'render' | 'retrieve';

/**
 * Which operations each kind of key may perform. The specification only says that a public key "has limited
 * privileges" (section 5.9). Here it may retrieve but not render.
 */
export const scopes: Readonly<Record<KeyKind, readonly Operation[]>> = {
  secret: ['render', 'retrieve'],
  public: ['retrieve'],
};

/** The caller, if known, and why access is denied. */
interface Access {
  caller?: { key: ApiKey; organization: Organization } | undefined;
  denial?: { status: ProblemStatus; detail: string; headers?: Record<string, string> } | undefined;
}

export interface ApiEnvironment {
  Bindings: HttpBindings | Http2Bindings;
  Variables: Access;
}

/**
 * Decides whether a request may be served (specification, section 5): first the key (401), then the
 * organization's subscription (402), then the key's permission (403). A 404 would tell what exists, so it
 * comes last.
 */
export function authenticate(store: Store, authorization: string | undefined, operation: Operation): Access {
  if (authorization === undefined) {
    const detail = 'No API key was provided. Send it as a bearer credential.';
    return { denial: { status: 401, detail, headers: { 'www-authenticate': 'Bearer' } } };
  }
  const secret = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
  const key = secret === undefined ? undefined : store.keys.find(secret);
  const organization = key && store.organizations.get(key.organizationId);
  if (key === undefined || organization === undefined) {
    const detail = 'The API key is not valid: it is unknown or was revoked.';
    const headers = { 'www-authenticate': 'Bearer error="invalid_token"' };
    return { denial: { status: 401, detail, headers } };
  }
  const caller = { key, organization };
  if (organization.subscription === 'expired') {
    const detail = `The subscription of ${organization.name} has expired.`;
    return { caller, denial: { status: 402, detail } };
  }
  if (!scopes[key.kind].includes(operation)) {
    return {
      caller,
      denial: { status: 403, detail: `A ${key.kind} API key may not ${operation} snippets.` },
    };
  }
  return { caller };
}
