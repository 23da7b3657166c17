-- What payment providers told and what is not in the log: either it waits until somebody's address is known for it, or it
-- has no effect. `sealed` is a nonce of 24 bytes and JSON, encrypted with XChaCha20-Poly1305 for this name.
CREATE TABLE notices (
    name    TEXT    NOT NULL PRIMARY KEY,
    waiting INTEGER NOT NULL CHECK (waiting IN (0, 1)),
    sealed  BLOB    NOT NULL
) STRICT;

CREATE INDEX notices_waiting ON notices (name) WHERE waiting = 1;
