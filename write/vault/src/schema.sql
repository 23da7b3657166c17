-- Addresses, found by HMAC-SHA-256 of their folded form. `sealed` is a nonce of 24 bytes and the address, encrypted with
-- XChaCha20-Poly1305 for this account.
CREATE TABLE addresses (
    digest  BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    account TEXT NOT NULL UNIQUE,
    sealed  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: by what the secret is recognised.
CREATE TABLE vault (
    only       INTEGER PRIMARY KEY CHECK (only = 1),
    recognised BLOB    NOT NULL CHECK (length(recognised) = 32)
) STRICT;
