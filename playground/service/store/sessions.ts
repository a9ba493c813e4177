import { createHash, randomBytes } from 'node:crypto';
import { Table } from './table.ts';

/** The name of a person, if known. */
export type Person = string | null;

/** Who is signed in. */
export interface Session {
  organizationId: number;
  person: Person;
}

const lifetimeMilliseconds = 12 * 60 * 60 * 1000;

/**
 * The people who are signed in, and the login links for those who want to. Only hashes of their tokens are stored, as
 * of API keys, so that a copy of the database signs nobody in.
 */
export class Sessions extends Table {
  /** Makes the token of a login link, which works once. */
  invite(session: Session): string {
    return this.#add('link', session);
  }

  /** Exchanges a login link's token for a session's token, if it is valid and unused. */
  open(link: string): (Session & { token: string }) | undefined {
    const invited = this.one<Session>`DELETE FROM sessions
      WHERE hash = ${hash(link)} AND kind = 'link' AND expiresAt > ${Date.now()}
      RETURNING organizationId, person`;
    return invited && { ...invited, token: this.#add('session', invited) };
  }

  get(token: string): Session | undefined {
    return this.one`SELECT organizationId, person FROM sessions
      WHERE hash = ${hash(token)} AND kind = 'session' AND expiresAt > ${Date.now()}`;
  }

  rename(token: string, person: Person): void {
    this.run`UPDATE sessions SET person = ${person} WHERE hash = ${hash(token)}`;
  }

  end(token: string): void {
    this.run`DELETE FROM sessions WHERE hash = ${hash(token)}`;
  }

  #add(kind: 'link' | 'session', { organizationId, person }: Session): string {
    const token = randomBytes(32).toString('base64url');
    const now = Date.now();
    this.run`DELETE FROM sessions WHERE expiresAt <= ${now}`;
    this.run`INSERT INTO sessions (hash, kind, organizationId, person, expiresAt)
      VALUES (${hash(token)}, ${kind}, ${organizationId}, ${person}, ${now + lifetimeMilliseconds})`;
    return token;
  }
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
