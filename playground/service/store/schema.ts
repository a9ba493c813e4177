/** The version of the schema below. Any change of the schema needs another version. */
export const schemaVersion = 7;

export const schema = `
  CREATE TABLE IF NOT EXISTS organizations (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    subscription TEXT NOT NULL DEFAULT 'active' CHECK (subscription IN ('active', 'expired'))
  ) STRICT;

  -- With the columns of every version, so that another one can read the keys.
  CREATE TABLE IF NOT EXISTS api_keys (
    id INTEGER PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'public')),
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    ending TEXT NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT
  ) STRICT;

  CREATE VIEW IF NOT EXISTS keys AS
    SELECT id, organization_id AS organizationId, kind, name, hash, ending, created_at AS createdAt,
      revoked_at AS revokedAt
    FROM api_keys;

  -- An id is never given again: the embeds of a snippet that was deleted would show another one.
  CREATE TABLE IF NOT EXISTS drafts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organizationId INTEGER NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    draft TEXT NOT NULL,
    sample TEXT NOT NULL,
    -- The name of the person who saved the draft last, if known.
    editedBy TEXT,
    -- The draft that was discarded.
    discarded TEXT,
    published INTEGER,
    FOREIGN KEY (id, published) REFERENCES versions (snippetId, number)
  ) STRICT;

  CREATE INDEX IF NOT EXISTS draftsOfOrganization ON drafts (organizationId);

  CREATE TABLE IF NOT EXISTS versions (
    snippetId INTEGER NOT NULL REFERENCES drafts (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    publishedAt TEXT NOT NULL,
    publishedBy TEXT,
    PRIMARY KEY (snippetId, number)
  ) STRICT;

  CREATE VIEW IF NOT EXISTS snippets AS
    SELECT drafts.*, publishedAt, publishedBy, content AS publishedContent
    FROM drafts LEFT JOIN versions ON snippetId = id AND number = published;

  CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    organizationId INTEGER REFERENCES organizations (id),
    keyId INTEGER REFERENCES api_keys (id),
    variant TEXT NOT NULL CHECK (variant IN ('render', 'retrieve')),
    snippetId TEXT NOT NULL,
    params TEXT,
    status INTEGER NOT NULL,
    milliseconds REAL NOT NULL,
    userAgent TEXT NOT NULL
  ) STRICT;

  CREATE INDEX IF NOT EXISTS requestsOfOrganization ON requests (organizationId, id);

  CREATE TABLE IF NOT EXISTS sessions (
    hash BLOB PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('link', 'session')),
    organizationId INTEGER NOT NULL REFERENCES organizations (id),
    person TEXT,
    expiresAt INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE IF NOT EXISTS webhooks (
    organizationId INTEGER PRIMARY KEY REFERENCES organizations (id),
    url TEXT NOT NULL,
    secret TEXT NOT NULL
  ) STRICT;

  CREATE TABLE IF NOT EXISTS deliveries (
    id INTEGER PRIMARY KEY,
    organizationId INTEGER NOT NULL REFERENCES organizations (id),
    messageId TEXT NOT NULL,
    type TEXT NOT NULL,
    snippetId INTEGER NOT NULL,
    at TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    answer TEXT
  ) STRICT;

  CREATE INDEX IF NOT EXISTS deliveriesOfOrganization ON deliveries (organizationId, id);
`;
