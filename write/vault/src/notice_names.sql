-- Version 6. What a waiting notice names, such as a subscription, by HMAC-SHA-256: by it a later notice finds those that
-- it brings along.
CREATE TABLE notice_names (
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    notice TEXT NOT NULL,
    PRIMARY KEY (digest, notice)
) STRICT, WITHOUT ROWID;

CREATE INDEX names_of_notices ON notice_names (notice);

-- When a notice came, in microseconds since 1970; NULL for those of older versions until they are looked at.
ALTER TABLE notices ADD COLUMN received_at INTEGER;

-- 1 for a notice that does not open. It stays until its provider tells the same again.
ALTER TABLE notices ADD COLUMN set_aside INTEGER NOT NULL DEFAULT 0 CHECK (set_aside IN (0, 1));

CREATE INDEX notices_received ON notices (received_at) WHERE waiting = 1;
