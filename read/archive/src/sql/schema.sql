-- The read model of the archive: one row a project, withdrawn ones too.
CREATE TABLE projects (
    ordinal   INTEGER PRIMARY KEY,        -- position of the event that selected it
    project   TEXT NOT NULL UNIQUE,       -- ULID
    slug      TEXT NOT NULL,
    category  TEXT NOT NULL,
    published INTEGER,                    -- days since 1970-01-01, or null where it is not recorded
    added     INTEGER NOT NULL,           -- the day of its first event, likewise
    newest    INTEGER NOT NULL,           -- the day that it is browsed by: published, else selected by its curator, else added
    listed    INTEGER NOT NULL,           -- 0 while it is withdrawn
    words     TEXT NOT NULL,              -- a line for each taste dimension: its distinct words in lower case, as they are written
    name      TEXT NOT NULL,              -- its folded name, by which it is sorted
    city      TEXT,                       -- as recorded, like the following
    studio    TEXT,
    curator   TEXT,
    year      INTEGER,
    selected  INTEGER,                    -- the day on which a curator selected it, as days since 1970-01-01, or null
    has_picture INTEGER NOT NULL,         -- 1 where its summary has a thumbnail
    palette   BLOB NOT NULL,              -- the colours of its stored pictures, three bytes each
    pictures  TEXT NOT NULL,              -- JSON: the pictures that its record names, and the stored ones; for the writer
    recorded  INTEGER NOT NULL,           -- a bit for each member that has a value
    changed   INTEGER NOT NULL            -- counts commits that changed this row
) STRICT;

-- Readers load the rows that changed since their last refresh.
CREATE INDEX projects_by_change ON projects (changed);

CREATE TABLE checkpoint (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    state TEXT NOT NULL                   -- JSON of the checkpoint
) STRICT;
