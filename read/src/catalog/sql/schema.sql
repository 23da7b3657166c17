-- The catalog read model. Wide rows are kept in the order in which they were written, narrow ones in their keys'. Rendered texts hold the byte 1 where the site's own address belongs.
CREATE TABLE projects (
    project    TEXT PRIMARY KEY,          -- ULID
    ordinal    INTEGER NOT NULL,          -- position of the event that selected it
    slug       TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    updated_at TEXT NOT NULL,             -- RFC 3339
    withdrawn  TEXT,                      -- the reason, or null while it is listed
    pictures   TEXT NOT NULL,             -- JSON of the kept pictures by their sources
    awaited    TEXT NOT NULL,             -- JSON of the sources of pictures that are being fetched or drawn, and of erased ones
    awaits     INTEGER NOT NULL,          -- 1 while it is listed and the present record names one that is awaited
    picture    TEXT,                      -- the address of the first kept one in the width for lists, as it is rendered
    colour     TEXT,                      -- its main colour as #rrggbb
    page       TEXT,                      -- the address of a public page that the record brings itself
    source     TEXT,                      -- the address to cite that the record brings itself
    citation   TEXT NOT NULL,             -- the address to cite, as it is rendered
    answer     TEXT NOT NULL              -- the full record as it is answered
) STRICT;

-- What is listed, in the order of its selection, without its wide rows.
CREATE INDEX listed ON projects (ordinal, slug, updated_at) WHERE withdrawn IS NULL;

-- A project is also found by the addresses that its record brings.
CREATE INDEX by_page ON projects (page) WHERE page IS NOT NULL;
CREATE INDEX by_source ON projects (source) WHERE source IS NOT NULL;

CREATE TABLE revisions (
    project  TEXT NOT NULL,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    slug     TEXT NOT NULL,               -- where the project was found then
    time     TEXT NOT NULL,
    actor    TEXT NOT NULL,
    command  TEXT NOT NULL,               -- the command that it followed from
    record   TEXT NOT NULL,               -- JSON of the recorded facts
    PRIMARY KEY (project, revision)
) STRICT;

-- Pictures that gave way to another one of the same source: revisions that showed one go on showing it.
CREATE TABLE replaced (
    project TEXT NOT NULL,
    source  TEXT NOT NULL,
    until   INTEGER NOT NULL,             -- position of the event that attached the next one, or erased this one
    command TEXT NOT NULL,                -- the command which that event followed from
    picture TEXT NOT NULL,                -- JSON; null where it was erased
    PRIMARY KEY (project, source, until)
) WITHOUT ROWID, STRICT;

-- Every slug a project ever had; one of them is the project's current one.
CREATE TABLE slugs (
    slug    TEXT PRIMARY KEY,
    project TEXT NOT NULL
) WITHOUT ROWID, STRICT;

-- What happened to projects, in log order.
CREATE TABLE changes (
    position INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,
    ordinal  INTEGER NOT NULL,            -- position of the event that selected the project
    mark     INTEGER NOT NULL,            -- the beginning of the event's hash
    kind     TEXT NOT NULL,               -- selected, revised, renamed, withdrawn or restored
    slug     TEXT NOT NULL,               -- the slug after it
    former   TEXT,                        -- the slug before a rename
    time     TEXT NOT NULL,
    at       INTEGER NOT NULL,            -- the time in microseconds since 1970
    revision INTEGER NOT NULL,            -- the revision after it
    pictured TEXT                         -- the members that changed with the pictures, separated by commas; null of other changes
) STRICT;

-- What changed since some time, by kind, without the table's rows.
CREATE INDEX by_kind ON changes (kind, at, position, ordinal);

CREATE TABLE checkpoint (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    state TEXT NOT NULL                   -- JSON of the checkpoint
) STRICT;
