-- Version 4. One row: which vault this is, so that a log that several write sides append to has one.
CREATE TABLE identity (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id   BLOB    NOT NULL CHECK (length(id) = 16)
) STRICT;

INSERT INTO identity (only, id) VALUES (1, randomblob(16));
