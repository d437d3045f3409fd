-- When the newest message was said that a memory rests on. It stands before the wide columns, which
-- a table that is only altered would not allow; so the table is made anew.
CREATE TABLE memory_dated (
    scope_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    key TEXT NOT NULL,
    uid INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    expires_at INTEGER,
    said_at INTEGER,
    trust TEXT NOT NULL CHECK (trust IN ('user', 'assistant', 'external')),
    state TEXT NOT NULL CHECK (state IN ('active', 'quarantined', 'rejected')),
    cause TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    terms BLOB NOT NULL,
    text TEXT NOT NULL,
    value TEXT NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (scope_id, type, key)
) STRICT, WITHOUT ROWID;

INSERT INTO memory_dated (
    scope_id, type, key, uid, seq, version, created_at, updated_at, valid_from, valid_until,
    expires_at, said_at, trust, state, cause, checksum, text_hash, terms, text, value, evidence
)
SELECT scope_id, type, key, uid, seq, version, created_at, updated_at, valid_from, valid_until,
    expires_at, NULL, trust, state, cause, checksum, text_hash, terms, text, value, evidence
FROM memory;

DROP TABLE memory;

ALTER TABLE memory_dated RENAME TO memory;

CREATE UNIQUE INDEX memory_uid ON memory (scope_id, uid);

CREATE INDEX memory_seq ON memory (scope_id, seq, uid);

-- A row that does not match its checksum is left as it is: the new one would hide the damage.
UPDATE memory SET said_at = (
    SELECT max(m.time)
    FROM json_each(memory.evidence) AS field
    CROSS JOIN json_each(field.value) AS cited
    CROSS JOIN thread AS t
        ON t.scope_id = memory.scope_id AND t.id = json_extract(cited.value, '$[0]')
    CROSS JOIN message AS m
        ON m.scope_id = t.scope_id AND m.thread = t.number
        AND m.id = json_extract(cited.value, '$[1]')
)
WHERE checksum = row_checksum(
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, terms, text_hash
);

UPDATE memory SET checksum = row_checksum(
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, terms, text_hash, said_at
)
WHERE checksum = row_checksum(
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, terms, text_hash
);
