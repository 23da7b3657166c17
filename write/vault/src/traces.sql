-- Version 5. A row while traces of something that was erased may be in the file; those of older versions may be.
CREATE TABLE traces (
    only INTEGER PRIMARY KEY CHECK (only = 1)
) STRICT;

INSERT INTO traces (only) VALUES (1);
