-- Who changed what: a chain for each scope, by a keyed hash of its name, which outlives the scope.
CREATE TABLE audit (
    chain BLOB NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT,
    actor_key BLOB NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    digest BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (chain, n)
) STRICT, WITHOUT ROWID;

-- The last row of each chain, kept apart from it, so that a tail that was cut off is missed.
CREATE TABLE audit_head (
    chain BLOB NOT NULL PRIMARY KEY,
    n INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;
