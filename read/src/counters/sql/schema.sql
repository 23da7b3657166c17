-- The read model of counted calls. Months count from year 0, as `schemas::month::Month::number` has it.
CREATE TABLE totals (
    month   INTEGER NOT NULL,
    key_id  TEXT NOT NULL,
    tier    TEXT NOT NULL,
    used    INTEGER NOT NULL,             -- calls that count against the quota
    overrun INTEGER NOT NULL,             -- calls that turned out to be over it after they had been answered
    through INTEGER NOT NULL,             -- sequence of the allowance's last counted message in its JetStream stream
    changed INTEGER NOT NULL,             -- the commit that last changed it
    PRIMARY KEY (month, key_id, tier)
) WITHOUT ROWID, STRICT;

-- Readers load the rows that changed since their last refresh.
CREATE INDEX totals_by_change ON totals (changed);

CREATE TABLE days (
    key_id TEXT NOT NULL,
    date   TEXT NOT NULL,                 -- the UTC day, yyyy-mm-dd
    rest   INTEGER NOT NULL,
    mcp    INTEGER NOT NULL,
    PRIMARY KEY (key_id, date)
) WITHOUT ROWID, STRICT;

CREATE TABLE last_used (
    key_id TEXT PRIMARY KEY,
    time   INTEGER NOT NULL               -- microseconds since 1970
) WITHOUT ROWID, STRICT;

-- The ids of the calls of the newest month and the one before it: a call that comes twice is counted once.
CREATE TABLE seen (
    month INTEGER NOT NULL,
    call  BLOB NOT NULL,                  -- the 16 bytes of the UUID
    PRIMARY KEY (month, call)
) WITHOUT ROWID, STRICT;

CREATE TABLE checkpoint (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    state TEXT NOT NULL                   -- JSON of the progress
) STRICT;
