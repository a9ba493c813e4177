import type { Person } from './sessions.ts';
import { Table } from './table.ts';

export interface Snippet {
  id: number;
  name: string;
  /** The edited text, visible only on the website. */
  draft: string;
  /** Params to preview it with, as JSON. */
  sample: string;
  /** Who saved the draft last. */
  editedBy: Person;
  /** The draft that was discarded; `null` if there is none, or something was published since. */
  discarded: string | null;
  /** The number of the served version, `null` if not published. */
  published: number | null;
  publishedAt: string | null;
  /** Who published it. */
  publishedBy: Person;
  /** The content of that version, with variables. */
  publishedContent: string | null;
}

/** The fields that a user types. */
export type Typed = Pick<Snippet, 'name' | 'draft' | 'sample'>;

/** A snippet to create. The default id is the next free one. */
export type NewSnippet = Pick<Snippet, 'name'> & Partial<Pick<Snippet, 'id' | 'draft' | 'sample'>>;

export interface SnippetVersion {
  number: number;
  content: string;
  publishedAt: string;
  /** Who published it. */
  publishedBy: Person;
}

/**
 * The snippets of organizations, with every published version. Each method takes the organization, so that no
 * other organization's snippets can be reached.
 */
export class Snippets extends Table {
  create(organizationId: number, { id, name, draft = '', sample = '{}' }: NewSnippet): Snippet {
    const row = this.one<{ id: number }>`INSERT INTO drafts (id, organizationId, name, draft, sample)
      VALUES (${id ?? null}, ${organizationId}, ${name}, ${draft}, ${sample}) RETURNING id`;
    return this.get(organizationId, row?.id ?? 0) as Snippet;
  }

  get(organizationId: number, id: number): Snippet | undefined {
    return this.one`SELECT * FROM snippets WHERE organizationId = ${organizationId} AND id = ${id}`;
  }

  /** @param search a part of the name or a text, or the id. */
  list(organizationId: number, search = ''): Snippet[] {
    return this.all`SELECT * FROM snippets
      WHERE organizationId = ${organizationId} AND (CAST(id AS TEXT) = ${search}
        OR instr(lower(name || char(0) || draft || char(0) || COALESCE(publishedContent, '')), lower(${search})) > 0)
      ORDER BY id`;
  }

  /** Returns whether the snippet exists. */
  save(organizationId: number, id: number, { name, draft, sample }: Typed, person: Person = null): boolean {
    const changes = this
      .run`UPDATE drafts SET name = ${name}, draft = ${draft}, sample = ${sample}, editedBy = ${person}
      WHERE organizationId = ${organizationId} AND id = ${id}`;
    return changes === 1;
  }

  /** Makes the published content the draft again. The draft is kept, until something is published. */
  discard(organizationId: number, id: number, person: Person = null): void {
    this.run`UPDATE drafts SET editedBy = ${person}, discarded = draft,
        draft = (SELECT content FROM versions WHERE snippetId = id AND number = published)
      WHERE organizationId = ${organizationId} AND id = ${id} AND published IS NOT NULL`;
  }

  /** Brings a discarded draft back. A draft that is in its place until then counts as discarded. */
  restore(organizationId: number, id: number, person: Person = null): void {
    this.run`UPDATE drafts SET editedBy = ${person}, draft = discarded, discarded = NULLIF(draft,
        (SELECT content FROM versions WHERE snippetId = id AND number = published))
      WHERE organizationId = ${organizationId} AND id = ${id} AND discarded IS NOT NULL`;
  }

  /** Makes a new version from the draft, and serves it. The version survives a crash once this returns. */
  publish(organizationId: number, id: number, person: Person = null): SnippetVersion | undefined {
    return this.transaction(() => {
      const snippet = this.get(organizationId, id);
      if (snippet === undefined) return undefined;
      return this.#serve(id, snippet.draft, person);
    });
  }

  /**
   * Serves an old version's content again, as a new version, since published versions never change. The draft
   * gets the same content, unless its text is in no version.
   */
  rollBack(
    organizationId: number,
    id: number,
    old: number,
    person: Person = null,
  ): SnippetVersion | undefined {
    return this.transaction(() => {
      const versions = this.versions(organizationId, id);
      const content = versions.find(({ number }) => number === old)?.content;
      if (content === undefined) return undefined;
      const draft = this.get(organizationId, id)?.draft;
      if (versions.some((version) => version.content === draft)) {
        this.run`UPDATE drafts SET draft = ${content} WHERE id = ${id}`;
      }
      return this.#serve(id, content, person);
    });
  }

  /** Stops serving a snippet. Its versions stay. */
  unpublish(organizationId: number, id: number): void {
    this.run`UPDATE drafts SET published = NULL WHERE organizationId = ${organizationId} AND id = ${id}`;
  }

  /** Deletes a snippet with its versions. Its id is not used again. */
  delete(organizationId: number, id: number): void {
    this.run`DELETE FROM drafts WHERE organizationId = ${organizationId} AND id = ${id}`;
  }

  /** All published versions, newest first. */
  versions(organizationId: number, id: number): SnippetVersion[] {
    return this.all`SELECT versions.* FROM versions JOIN drafts ON id = snippetId
      WHERE organizationId = ${organizationId} AND id = ${id} ORDER BY number DESC`;
  }

  /** The snippet as the API serves it: only if it is published. */
  published(organizationId: number, id: number): { name: string; content: string } | undefined {
    return this.one`SELECT name, publishedContent AS content FROM snippets
      WHERE organizationId = ${organizationId} AND id = ${id} AND published IS NOT NULL`;
  }

  #serve(id: number, content: string, person: Person): SnippetVersion {
    const version = this.one<SnippetVersion>`
      INSERT INTO versions (snippetId, number, content, publishedAt, publishedBy)
      SELECT ${id}, COALESCE(MAX(number), 0) + 1, ${content}, ${new Date().toISOString()}, ${person}
      FROM versions WHERE snippetId = ${id} RETURNING *` as SnippetVersion;
    this.run`UPDATE drafts SET published = ${version.number}, discarded = NULL WHERE id = ${id}`;
    return version;
  }
}
