import type { DatabaseSync } from 'node:sqlite';
import { transaction } from './database.ts';

export interface Snippet {
  id: number;
  name: string;
  /** What is being edited. Nobody but the website sees it. */
  draft: string;
  /** Params to preview it with, as JSON. */
  sample: string;
  /** The number of the version that is served; `null` until it is published. */
  published: number | null;
  publishedAt: string | null;
  /** The content of that version, before its variables are filled in. */
  publishedContent: string | null;
}

export interface NewSnippet {
  /** @default the next free one */
  id?: number;
  name: string;
  draft?: string;
  sample?: string;
}

export interface SnippetVersion {
  number: number;
  content: string;
  publishedAt: string;
}

export interface PublishedSnippet {
  id: number;
  name: string;
  content: string;
}

const selection = `SELECT s.id, s.name, s.draft, s.sample, s.published, v.published_at AS publishedAt,
    v.content AS publishedContent
  FROM snippets s LEFT JOIN snippet_versions v ON v.snippet_id = s.id AND v.number = s.published`;

/**
 * The snippets of organizations, and every version that was ever published. Each method takes the organization:
 * there is no way to reach another one's.
 */
export class Snippets {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  create(organizationId: number, { id, name, draft = '', sample = '{}' }: NewSnippet): Snippet {
    const { lastInsertRowid } = this.#database
      .prepare('INSERT INTO snippets (id, organization_id, name, draft, sample) VALUES (?, ?, ?, ?, ?)')
      .run(id ?? null, organizationId, name, draft, sample);
    return {
      ...{ id: Number(lastInsertRowid), name, draft, sample },
      ...{ published: null, publishedAt: null, publishedContent: null },
    };
  }

  get(organizationId: number, id: number): Snippet | undefined {
    const row = this.#database
      .prepare(`${selection} WHERE s.organization_id = ? AND s.id = ?`)
      .get(organizationId, id);
    return row as unknown as Snippet | undefined;
  }

  /** @param search a part of the name or of a text, or the id. */
  list(organizationId: number, search = ''): Snippet[] {
    const rows = this.#database
      .prepare(
        `${selection}
         WHERE s.organization_id = ? AND (CAST(s.id AS TEXT) = ?
           OR instr(lower(s.name || char(0) || s.draft || char(0) || COALESCE(v.content, '')), lower(?)) > 0)
         ORDER BY s.id`,
      )
      .all(organizationId, search, search);
    return rows as unknown as Snippet[];
  }

  /** Returns whether there was such a snippet to change. */
  save(
    organizationId: number,
    id: number,
    { name, draft, sample }: Pick<Snippet, 'name' | 'draft' | 'sample'>,
  ): boolean {
    const { changes } = this.#database
      .prepare(
        `UPDATE snippets SET name = ?, draft = ?, sample = ?
         WHERE organization_id = ? AND id = ?`,
      )
      .run(name, draft, sample, organizationId, id);
    return changes === 1;
  }

  /** Makes a new version of the draft, and serves it from now on. When this returns, it will survive a crash. */
  publish(organizationId: number, id: number): SnippetVersion | undefined {
    return transaction(this.#database, () => {
      const snippet = this.get(organizationId, id);
      if (snippet === undefined) return undefined;
      return this.#serve(id, snippet.draft);
    });
  }

  /**
   * Serves an old version's content again, as a new version: nothing that was published is ever changed. The draft
   * becomes the same content, unless it was never published: then it is kept, since no version has its text.
   */
  rollBack(organizationId: number, id: number, number: number): SnippetVersion | undefined {
    return transaction(this.#database, () => {
      const versions = this.versions(organizationId, id);
      const old = versions.find((version) => version.number === number);
      if (old === undefined) return undefined;
      const draft = this.get(organizationId, id)?.draft;
      if (versions.some(({ content }) => content === draft)) {
        this.#database.prepare('UPDATE snippets SET draft = ? WHERE id = ?').run(old.content, id);
      }
      return this.#serve(id, old.content);
    });
  }

  /** Ends that it is served. Its versions stay. Returns whether it was served until now. */
  unpublish(organizationId: number, id: number): boolean {
    const { changes } = this.#database
      .prepare(
        `UPDATE snippets SET published = NULL
         WHERE organization_id = ? AND id = ? AND published IS NOT NULL`,
      )
      .run(organizationId, id);
    return changes === 1;
  }

  /** Deletes it with its versions. Its id is never given again. Returns whether there was such a snippet. */
  delete(organizationId: number, id: number): boolean {
    return transaction(this.#database, () => {
      if (this.get(organizationId, id) === undefined) return false;
      this.#database.prepare('UPDATE snippets SET published = NULL WHERE id = ?').run(id);
      this.#database.prepare('DELETE FROM snippet_versions WHERE snippet_id = ?').run(id);
      this.#database.prepare('DELETE FROM snippets WHERE id = ?').run(id);
      return true;
    });
  }

  /** Every version that was published, the newest first. */
  versions(organizationId: number, id: number): SnippetVersion[] {
    const rows = this.#database
      .prepare(
        `SELECT v.number, v.content, v.published_at AS publishedAt
         FROM snippet_versions v JOIN snippets s ON s.id = v.snippet_id
         WHERE s.organization_id = ? AND s.id = ? ORDER BY v.number DESC`,
      )
      .all(organizationId, id);
    return rows as unknown as SnippetVersion[];
  }

  /** What the API serves. A snippet that was never published is none. */
  published(organizationId: number, id: number): PublishedSnippet | undefined {
    const row = this.#database
      .prepare(
        `SELECT s.id, s.name, v.content
         FROM snippets s JOIN snippet_versions v ON v.snippet_id = s.id AND v.number = s.published
         WHERE s.organization_id = ? AND s.id = ?`,
      )
      .get(organizationId, id);
    return row as unknown as PublishedSnippet | undefined;
  }

  #serve(id: number, content: string): SnippetVersion {
    const last = this.#database
      .prepare('SELECT COALESCE(MAX(number), 0) AS number FROM snippet_versions WHERE snippet_id = ?')
      .get(id) as { number: number };
    const version = { number: last.number + 1, content, publishedAt: new Date().toISOString() };
    this.#database
      .prepare('INSERT INTO snippet_versions (snippet_id, number, content, published_at) VALUES (?, ?, ?, ?)')
      .run(id, version.number, version.content, version.publishedAt);
    this.#database.prepare('UPDATE snippets SET published = ? WHERE id = ?').run(version.number, id);
    return version;
  }
}
