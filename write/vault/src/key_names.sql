-- Version 7. What the holders of keys call them. `sealed` is a nonce of 24 bytes and the name, encrypted with
-- XChaCha20-Poly1305 for this key.
CREATE TABLE key_names (
    key_id  TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    sealed  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX key_names_of_accounts ON key_names (account);

-- Notices without effect end too, not only those that wait.
DROP INDEX notices_received;
CREATE INDEX notices_received ON notices (received_at);
