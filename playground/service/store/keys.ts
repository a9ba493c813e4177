import { createHash, randomBytes } from 'node:crypto';
import { Table } from './table.ts';

export type KeyKind = 'secret' | 'public';

export interface ApiKey {
  id: number;
  organizationId: number;
  kind: KeyKind;
  name: string;
  /** The last four characters, to tell keys apart. */
  ending: string;
  createdAt: string;
  revokedAt: string | null;
}

/**
 * The API keys of organizations (specification, section 5). A key is shown once, when it is made. Only its
 * hash is stored: plain SHA-256 is enough for 256 random bits.
 */
export class Keys extends Table {
  create(organizationId: number, kind: KeyKind, name: string): { key: ApiKey; secret: string } {
    const secret = `${kind === 'secret' ? 'sk' : 'pk'}_${randomBytes(32).toString('base64url')}`;
    this.run`INSERT INTO api_keys (organization_id, kind, name, hash, ending, created_at)
      VALUES (${organizationId}, ${kind}, ${name}, ${hash(secret)}, ${secret.slice(-4)}, ${new Date().toISOString()})`;
    return { key: this.find(secret) as ApiKey, secret };
  }

  /**
   * Adds the keys of a database of another version, so that sites can still be built with them.
   *
   * @returns whether they could be read.
   */
  adopt(file: string): boolean {
    this.run`ATTACH ${file} AS other`;
    try {
      this.database.exec(
        `INSERT INTO api_keys (id, organization_id, kind, name, hash, ending, created_at, revoked_at)
         SELECT id, organization_id, kind, name, hash, ending, created_at, revoked_at FROM other.api_keys
         WHERE organization_id IN (SELECT id FROM organizations)`,
      );
      return true;
    } catch {
      return false;
    } finally {
      this.database.exec('DETACH other');
    }
  }

  /** The key with this secret, unless it was revoked. */
  find(secret: string): ApiKey | undefined {
    return this.one`SELECT * FROM keys WHERE hash = ${hash(secret)} AND revokedAt IS NULL`;
  }

  list(organizationId: number): ApiKey[] {
    return this.all`SELECT * FROM keys WHERE organizationId = ${organizationId} ORDER BY id`;
  }

  revoke(organizationId: number, id: number): void {
    this.run`UPDATE api_keys SET revoked_at = ${new Date().toISOString()}
      WHERE organization_id = ${organizationId} AND id = ${id} AND revoked_at IS NULL`;
  }
}

function hash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
