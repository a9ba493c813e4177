import { createHash, randomBytes } from 'node:crypto';

export interface Session {
  organizationId: number;
}

const lifetime = 12 * 60 * 60 * 1000;

/**
 * Who is signed in. Login links hold a token that works once; sessions are kept in memory, so that they end with
 * the service. Of both only hashes are kept: what is compared is never what was guessed.
 */
export class Sessions {
  readonly #links = new Map<string, { session: Session; expiresAt: number }>();
  readonly #sessions = new Map<string, { session: Session; expiresAt: number }>();

  /** Makes the token of a login link. */
  invite(organizationId: number): string {
    return put(this.#links, { organizationId });
  }

  /** Takes a login link's token, and gives the token of a session; nothing when it is spent or was never made. */
  open(token: string): { token: string; session: Session } | undefined {
    const session = take(this.#links, token);
    this.#links.delete(hash(token));
    return session && { token: put(this.#sessions, session), session };
  }

  get(token: string): Session | undefined {
    return take(this.#sessions, token);
  }

  end(token: string): void {
    this.#sessions.delete(hash(token));
  }
}

type Kept = Map<string, { session: Session; expiresAt: number }>;

function put(kept: Kept, session: Session): string {
  const token = randomBytes(32).toString('base64url');
  kept.set(hash(token), { session, expiresAt: Date.now() + lifetime });
  return token;
}

function take(kept: Kept, token: string): Session | undefined {
  const found = kept.get(hash(token));
  return found !== undefined && found.expiresAt > Date.now() ? found.session : undefined;
}

function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
