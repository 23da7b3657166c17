-- The log. Positions are given by the writer, never by AUTOINCREMENT, which leaves holes.
CREATE TABLE events (
    position    INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    stream      TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    kind        TEXT    NOT NULL,
    time        INTEGER NOT NULL, -- nanoseconds since 1970-01-01T00:00:00Z
    actor       TEXT    NOT NULL,
    causation   BLOB    NOT NULL CHECK (length(causation) = 16),
    correlation BLOB    NOT NULL CHECK (length(correlation) = 16),
    hash        BLOB    NOT NULL CHECK (length(hash) = 32),
    data        TEXT    NOT NULL,
    traceparent TEXT, -- the trace of the command; absent from files of 0.1 until they are written to
    UNIQUE (stream, version)
) STRICT;

-- Finds what a command did, so that it is carried out once.
CREATE INDEX events_by_causation ON events (causation);

-- Names claimed by a stream; they are never released.
CREATE TABLE claims (
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    stream    TEXT NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- One row: whose log this is and where it ends, so that a log that lost its tail is seen.
CREATE TABLE log (
    only     INTEGER PRIMARY KEY CHECK (only = 1),
    store    TEXT    NOT NULL,
    position INTEGER NOT NULL,
    hash     BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;
