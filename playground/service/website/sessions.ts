import { createHash, randomBytes } from 'node:crypto';

const lifetime = 12 * 60 * 60 * 1000;

/**
 * The signed-in organizations. Login links hold a token that works once. Sessions are in memory, so they end
 * with the service. Only hashes are stored, so that comparing tokens leaks no timing.
 */
export class Sessions {
  readonly #links: Kept = new Map();
  readonly #sessions: Kept = new Map();

  /** Makes the token of a login link. */
  invite(organizationId: number): string {
    return put(this.#links, organizationId);
  }

  /** Exchanges a login link's token for a session's token, if it is valid and unused. */
  open(link: string): { token: string; organizationId: number } | undefined {
    const organizationId = take(this.#links, link);
    this.#links.delete(hash(link));
    if (organizationId === undefined) return undefined;
    return { token: put(this.#sessions, organizationId), organizationId };
  }

  get(token: string): number | undefined {
    return take(this.#sessions, token);
  }

  end(token: string): void {
    this.#sessions.delete(hash(token));
  }
}

type Kept = Map<string, { organizationId: number; expiresAt: number }>;

function put(kept: Kept, organizationId: number): string {
  const token = randomBytes(32).toString('base64url');
  kept.set(hash(token), { organizationId, expiresAt: Date.now() + lifetime });
  return token;
}

function take(kept: Kept, token: string): number | undefined {
  const found = kept.get(hash(token));
  return found !== undefined && found.expiresAt > Date.now() ? found.organizationId : undefined;
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
