-- The read model of neighbours. What is narrow and often changed stands apart from the wide vectors.
CREATE TABLE projects (
    ordinal  INTEGER PRIMARY KEY,         -- position of the event that selected it
    project  TEXT NOT NULL UNIQUE,        -- ULID
    listed   INTEGER NOT NULL,            -- 0 while it is withdrawn
    sides    INTEGER NOT NULL,            -- which vectors it has: 1 visual, 2 semantic, 3 both
    dirty    INTEGER NOT NULL,            -- 1 while lists do not show yet what became of it
    complete INTEGER NOT NULL,            -- 1 if the list holds every project that it can be compared with
    changed  INTEGER NOT NULL,            -- counts commits that changed this row for readers
    list     BLOB NOT NULL,               -- the nearest, nearest first, eight bytes each
    visual_model   TEXT,                  -- what made its vectors
    semantic_model TEXT
) STRICT;

-- Readers load the rows that changed since their last refresh.
CREATE INDEX projects_by_change ON projects (changed);

CREATE INDEX dirty_projects ON projects (ordinal) WHERE dirty = 1;

-- The newest vectors of every project that has any, withdrawn ones too.
CREATE TABLE vectors (
    ordinal  INTEGER PRIMARY KEY,
    visual   BLOB,                        -- little-endian 32-bit floats of unit length, or signed bytes: as its model says
    semantic BLOB
) STRICT;

-- The form of each model's vectors, that of the first one: the dimensions, 0 before the first one, and whether a number has one byte.
CREATE TABLE models (
    model                 TEXT PRIMARY KEY,
    visual                INTEGER NOT NULL,
    visual_is_quantized   INTEGER NOT NULL,
    semantic              INTEGER NOT NULL,
    semantic_is_quantized INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoint (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    state TEXT NOT NULL                   -- JSON of the checkpoint
) STRICT;
