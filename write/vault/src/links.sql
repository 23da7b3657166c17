-- Version 2. Letters that wait to be mailed; the addresses they go to stand sealed in `addresses`. Times are in
-- microseconds since 1970.
CREATE TABLE letters (
    account   TEXT    NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('proof', 'payment')),
    queued_at INTEGER NOT NULL,
    attempts  INTEGER NOT NULL DEFAULT 0,
    next_at   INTEGER NOT NULL,
    PRIMARY KEY (account, kind)
) STRICT, WITHOUT ROWID;

-- When the last mail to an account left, for as long as that delays the next.
CREATE TABLE mailed (
    account TEXT    NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Links that prove an address, by the SHA-256 of their token. `used_by` is the command that used it, a UUID.
CREATE TABLE links (
    digest     BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account    TEXT    NOT NULL,
    made_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_by    BLOB    CHECK (length(used_by) = 16)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_of_accounts ON links (account);
