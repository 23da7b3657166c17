-- Every counted call; none is ever deleted. The writer assigns positions without gaps.
CREATE TABLE entries (
    position  INTEGER PRIMARY KEY,
    id        BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    key       BLOB    NOT NULL CHECK (length(key) = 8),
    month     INTEGER NOT NULL, -- its place among all months
    tier      INTEGER NOT NULL, -- a word
    time      INTEGER NOT NULL, -- nanoseconds since 1970-01-01T00:00:00Z
    surface   INTEGER NOT NULL, -- 1 REST, 2 MCP
    operation INTEGER NOT NULL, -- a word
    source    INTEGER NOT NULL,
    sequence  INTEGER NOT NULL, -- where it stood in its source
    hash      BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- Finds and counts the calls of a month, or of a key in it, without touching the entries.
CREATE INDEX entries_by_month ON entries (month, key, tier, source);

-- Tiers and operations: few words that stand in many entries.
CREATE TABLE words (
    id   INTEGER PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
) STRICT;

-- The JetStream streams that entries were copied from, and up to which sequence. A stream that was created again is another source.
CREATE TABLE sources (
    id       INTEGER PRIMARY KEY,
    stream   TEXT    NOT NULL,
    created  INTEGER NOT NULL, -- nanoseconds since 1970-01-01T00:00:00Z
    sequence INTEGER NOT NULL, -- the last one that was copied
    call     BLOB,             -- the id of the call there; null where there was none
    current  INTEGER NOT NULL, -- 1 for the stream that has the name now, 0 for former ones
    UNIQUE (stream, created)
) STRICT;

-- One row: where the ledger ends, so that one that lost its tail is seen.
CREATE TABLE ledger (
    only     INTEGER PRIMARY KEY CHECK (only = 1),
    position INTEGER NOT NULL,
    hash     BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;
