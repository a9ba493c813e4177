/** Of the schema below: what changes it gives it another number. */
export const schemaVersion = 5;

export const schema = `
  CREATE TABLE organizations (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    subscription TEXT NOT NULL DEFAULT 'active' CHECK (subscription IN ('active', 'expired'))
  ) STRICT;

  CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    kind TEXT NOT NULL CHECK (kind IN ('secret', 'public')),
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    ending TEXT NOT NULL,
    created_at TEXT NOT NULL,
    revoked_at TEXT
  ) STRICT;

  -- An id is never given again: the embeds of a snippet that was deleted would show another one.
  CREATE TABLE snippets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    draft TEXT NOT NULL,
    sample TEXT NOT NULL,
    published INTEGER,
    FOREIGN KEY (id, published) REFERENCES snippet_versions (snippet_id, number)
  ) STRICT;

  CREATE INDEX snippets_of_organization ON snippets (organization_id);

  CREATE TABLE snippet_versions (
    snippet_id INTEGER NOT NULL REFERENCES snippets (id),
    number INTEGER NOT NULL,
    content TEXT NOT NULL,
    published_at TEXT NOT NULL,
    PRIMARY KEY (snippet_id, number)
  ) STRICT;

  CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    organization_id INTEGER REFERENCES organizations (id),
    key_id INTEGER REFERENCES api_keys (id),
    variant TEXT NOT NULL CHECK (variant IN ('render', 'retrieve')),
    snippet_id TEXT NOT NULL,
    params TEXT,
    status INTEGER NOT NULL,
    milliseconds REAL NOT NULL,
    user_agent TEXT NOT NULL
  ) STRICT;

  CREATE INDEX requests_of_organization ON requests (organization_id, id);

  CREATE TABLE webhooks (
    organization_id INTEGER PRIMARY KEY REFERENCES organizations (id),
    url TEXT NOT NULL,
    secret TEXT NOT NULL
  ) STRICT;

  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    organization_id INTEGER NOT NULL REFERENCES organizations (id),
    message_id TEXT NOT NULL,
    type TEXT NOT NULL,
    snippet_id INTEGER NOT NULL,
    at TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    answer TEXT
  ) STRICT;

  CREATE INDEX deliveries_of_organization ON deliveries (organization_id, id);
`;
