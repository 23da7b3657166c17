-- The read model of keys: one row per key, never deleted.
CREATE TABLE keys (
    key_id     TEXT PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,      -- SHA-256 of the whole key
    account    TEXT NOT NULL,             -- ULID
    hint       TEXT NOT NULL,             -- the last four characters
    name       TEXT,                      -- in the clear, from events of version 0.1
    sealed_name TEXT,                    -- encrypted with the key itself
    tier       TEXT NOT NULL,
    created_at TEXT NOT NULL,             -- RFC 3339
    revoked_at TEXT,                      -- RFC 3339, or null while it is good
    proven     INTEGER NOT NULL,          -- 1 once its holder has shown that the address is theirs
    changed    INTEGER NOT NULL           -- position of the last event that changed it
) STRICT;

CREATE INDEX keys_of_account ON keys (account);

-- Readers load the rows that changed since their last refresh.
CREATE INDEX keys_by_change ON keys (changed);

CREATE TABLE checkpoint (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    state TEXT NOT NULL                   -- JSON of the checkpoint
) STRICT;
