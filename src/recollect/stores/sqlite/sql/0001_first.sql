-- The first schema. Keys of rows of a scope begin with scope_id, so that a scope is one range of
-- every table and index. Wide columns come last, so that the others can be read without following
-- overflow pages.
PRAGMA application_id = 1380142156;

-- Every commit increments commits. So every log contains this row, whose secret shows to which file
-- the log belongs.
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format TEXT NOT NULL,
    secret BLOB NOT NULL,
    number INTEGER NOT NULL,
    commits INTEGER NOT NULL
) STRICT;

-- path contains the segments in UTF-8, each ended by a zero byte, which no segment contains. So its
-- byte order is the order of the tuples, and all scopes below another one are one range.
CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    path BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    compacted INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    lease_owner TEXT,
    lease_until INTEGER
) STRICT;

-- A covering index, to find the scopes that have changed without reading their rows.
CREATE INDEX scope_seq ON scope (id, seq);

CREATE TABLE thread (
    scope_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    formed INTEGER NOT NULL,
    first_pending_at INTEGER,
    due INTEGER,
    not_before INTEGER,
    attempts INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'paused')),
    waiting_tokens INTEGER NOT NULL,
    again TEXT NOT NULL,
    lanes TEXT NOT NULL,
    settings TEXT NOT NULL,
    PRIMARY KEY (scope_id, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX thread_number ON thread (scope_id, number);

-- The only index across scopes: workers look for due threads of any scope. It has all columns that
-- this needs, so that threads which are not due yet are skipped without reading their rows.
CREATE INDEX thread_due ON thread (due, number, not_before, state, formed, last, again)
WHERE due IS NOT NULL AND state = 'active' AND (formed < last OR again <> '[]');

-- Threads of a scope with pending messages, due or not; scopes without any cost one lookup.
CREATE INDEX thread_waiting ON thread (scope_id, due, number, not_before, state)
WHERE formed < last OR again <> '[]' OR lanes <> '{}';

CREATE TABLE message (
    scope_id INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    position INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    name TEXT,
    time INTEGER NOT NULL,
    session TEXT NOT NULL,
    source TEXT,
    kept_at INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    digest BLOB NOT NULL,
    text_hash BLOB NOT NULL,
    terms BLOB NOT NULL,
    text TEXT NOT NULL,
    metadata TEXT NOT NULL,
    content TEXT,
    PRIMARY KEY (scope_id, thread, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX message_id ON message (scope_id, thread, id);

CREATE UNIQUE INDEX message_uid ON message (scope_id, uid);

CREATE INDEX message_seq ON message (scope_id, seq, uid);

CREATE INDEX message_source ON message (scope_id, source) WHERE source IS NOT NULL;

CREATE TABLE memory (
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
    trust TEXT NOT NULL CHECK (trust IN ('user', 'assistant', 'external', 'agent')),
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

CREATE UNIQUE INDEX memory_uid ON memory (scope_id, uid);

CREATE INDEX memory_seq ON memory (scope_id, seq, uid);

CREATE TABLE revision (
    scope_id INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    version INTEGER NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    trust TEXT NOT NULL CHECK (trust IN ('user', 'assistant', 'external', 'agent')),
    state TEXT NOT NULL CHECK (state IN ('active', 'quarantined', 'rejected')),
    cause TEXT NOT NULL,
    believed_from INTEGER NOT NULL,
    believed_until INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    text TEXT NOT NULL,
    value TEXT NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (scope_id, uid, version)
) STRICT, WITHOUT ROWID;

-- Links from a message to the memories whose evidence, or that of a revision, cites it.
CREATE TABLE evidence (
    scope_id INTEGER NOT NULL,
    thread TEXT NOT NULL,
    message TEXT NOT NULL,
    uid INTEGER NOT NULL,
    PRIMARY KEY (scope_id, thread, message, uid)
) STRICT, WITHOUT ROWID;

CREATE INDEX evidence_uid ON evidence (scope_id, uid);

CREATE TABLE vector (
    scope_id INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    text_hash BLOB NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (scope_id, uid, embedder)
) STRICT, WITHOUT ROWID;

CREATE TABLE embedded (
    scope_id INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope_id, embedder)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstone (
    scope_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    PRIMARY KEY (scope_id, seq, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    scope_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    digest BLOB NOT NULL,
    kept_at INTEGER NOT NULL,
    result TEXT NOT NULL,
    PRIMARY KEY (scope_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_time ON idempotency (scope_id, kept_at);

-- JSON objects beside messages and memories; thread is '' for those without one.
CREATE TABLE side_record (
    scope_id INTEGER NOT NULL,
    thread TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    uid INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    checksum INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (scope_id, thread, kind, key)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX side_record_uid ON side_record (scope_id, uid);

-- Files beside the store that contain the index of a scope. A file is valid while its row exists
-- and has its digest; a transaction that removes words from the scope deletes the row too.
CREATE TABLE index_file (
    scope_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    form TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (scope_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE formation (
    scope_id INTEGER NOT NULL,
    id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    committed_at INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (
        status IN ('formed', 'failed', 'dead', 'redriven', 'consolidated')
    ),
    calls INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    watermarks TEXT NOT NULL,
    failed TEXT NOT NULL,
    receipt TEXT NOT NULL,
    PRIMARY KEY (scope_id, id)
) STRICT, WITHOUT ROWID;

-- Includes status, so that a few dead formations are found among many without reading their rows.
CREATE INDEX formation_time ON formation (scope_id, committed_at, fence, id, status);

CREATE TABLE receipt (
    id TEXT PRIMARY KEY,
    target BLOB NOT NULL,
    messages INTEGER NOT NULL,
    memories INTEGER NOT NULL,
    revised INTEGER NOT NULL,
    erased_at INTEGER NOT NULL,
    clean_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX receipt_time ON receipt (erased_at, id);

CREATE INDEX receipt_unclean ON receipt (erased_at, id) WHERE clean_at IS NULL;

-- The audit: a hash chain per scope, found by a keyed hash of its name, which outlives the scope.
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

-- The last row of each chain, stored apart from the rows, so that a missing tail is noticed.
CREATE TABLE audit_head (
    chain BLOB NOT NULL PRIMARY KEY,
    n INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (id, format, secret, number, commits)
VALUES (1, 'recollect', randomblob(32), 0, 0);
