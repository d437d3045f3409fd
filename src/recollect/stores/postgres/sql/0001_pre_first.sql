-- The first schema. Everything that hangs on a scope leads with scope_id, so that one scope is one
-- range of every table and index. Where the setting recollect.partitions is 0, as it is by default,
-- these tables are made without their PARTITION BY. Texts that are compared or ordered are in byte
-- order, which is the order of code points in UTF-8.

-- Row-level security is a second wall behind the predicates of the statements. As recollect_app,
-- which owns nothing, a transaction sees only the rows that its own settings name:
--   recollect.scope    the ids of the scopes whose rows are visible, separated by commas
--   recollect.first, recollect.end    hexadecimal, the range of paths by which scopes can be found
--   recollect.sweep    'on' to see all pending threads of the store
-- Policies compare scope_id + 0, for which there is no index. Otherwise the planner would find rows by
-- the policy, and read whole scopes where a statement names a few rows.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'recollect_app') THEN
        CREATE ROLE recollect_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;  -- another database of this server made it at the same moment
END $$;

DO $$
BEGIN
    -- Since PostgreSQL 16 a user who made a role may give it away, and take it only by a grant.
    IF NOT pg_has_role(
        current_user,
        'recollect_app',
        CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END
    ) THEN
        EXECUTE format('GRANT recollect_app TO %I', current_user);
    END IF;
END $$;

CREATE SCHEMA recollect;

-- version: the last migration step applied. requires: the lowest version that a release must know.
CREATE TABLE recollect.meta (
    id integer PRIMARY KEY CHECK (id = 1),
    format text NOT NULL,
    secret bytea NOT NULL,
    version integer NOT NULL,
    requires integer NOT NULL
);

INSERT INTO recollect.meta (id, format, secret, version, requires)
VALUES (
    1,
    'recollect',
    decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
    0,
    0
);

-- Scope ids, epochs and thread numbers. CACHE 1, so that numbers rise across all sessions.
CREATE SEQUENCE recollect.number AS bigint CACHE 1;

-- path holds the segments in UTF-8, each ended by a zero byte, which no segment contains: byte order
-- is then the order of the tuples, and all scopes below one are one range. A path can be longer than
-- an index entry, so it is found by its digest, and ordered by its head, then itself. Every write to a
-- scope updates its row; fillfactor leaves room on the page for that (heap-only tuples).
CREATE TABLE recollect.scope (
    id bigint PRIMARY KEY,
    path bytea NOT NULL,
    digest bytea NOT NULL GENERATED ALWAYS AS (sha256(path)) STORED UNIQUE,
    head bytea NOT NULL GENERATED ALWAYS AS (substring(path FROM 1 FOR 1024)) STORED,
    created_at bigint NOT NULL,
    epoch bigint NOT NULL,
    seq bigint NOT NULL,
    compacted bigint NOT NULL,
    fence bigint NOT NULL,
    lease_owner text COLLATE "C",
    lease_until bigint
) WITH (fillfactor = 50);

CREATE INDEX scope_head ON recollect.scope (head);

CREATE TABLE recollect.thread (
    scope_id bigint NOT NULL,
    number bigint NOT NULL,
    created_at bigint NOT NULL,
    last bigint NOT NULL,
    count bigint NOT NULL,
    formed bigint NOT NULL,
    first_pending_at bigint,
    due bigint,
    not_before bigint,
    attempts bigint NOT NULL,
    waiting_tokens bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('active', 'paused')),
    again text COLLATE "C" NOT NULL,
    lanes text COLLATE "C" NOT NULL,
    settings text NOT NULL,
    PRIMARY KEY (scope_id, id)
) PARTITION BY HASH (scope_id);

CREATE UNIQUE INDEX thread_number ON recollect.thread (scope_id, number);

-- The only index that does not lead with scope_id: workers look for due threads of all scopes.
CREATE INDEX thread_due ON recollect.thread (due, number, scope_id)
WHERE due IS NOT NULL AND state = 'active' AND (formed < last OR again <> '[]');

CREATE INDEX thread_waiting ON recollect.thread (scope_id, due, number)
WHERE formed < last OR again <> '[]' OR lanes <> '{}';

CREATE TABLE recollect.message (
    scope_id bigint NOT NULL,
    thread bigint NOT NULL,
    position bigint NOT NULL,
    uid bigint NOT NULL,
    seq bigint NOT NULL,
    time bigint NOT NULL,
    kept_at bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    name text COLLATE "C",
    session text COLLATE "C" NOT NULL,
    source text COLLATE "C",
    digest bytea NOT NULL,
    text_hash bytea NOT NULL,
    terms bytea NOT NULL,
    text text NOT NULL,
    metadata text NOT NULL,
    content text,
    PRIMARY KEY (scope_id, thread, position)
) PARTITION BY HASH (scope_id);

CREATE UNIQUE INDEX message_id ON recollect.message (scope_id, thread, id);

CREATE UNIQUE INDEX message_uid ON recollect.message (scope_id, uid);

CREATE INDEX message_seq ON recollect.message (scope_id, seq, uid);

CREATE INDEX message_source ON recollect.message (scope_id, source) WHERE source IS NOT NULL;

CREATE TABLE recollect.memory (
    scope_id bigint NOT NULL,
    uid bigint NOT NULL,
    seq bigint NOT NULL,
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    valid_from bigint,
    valid_until bigint,
    expires_at bigint,
    said_at bigint,
    type text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    trust text COLLATE "C" NOT NULL CHECK (trust IN ('user', 'assistant', 'external', 'agent')),
    state text COLLATE "C" NOT NULL CHECK (state IN ('active', 'quarantined', 'rejected')),
    cause text NOT NULL,
    text_hash bytea NOT NULL,
    terms bytea NOT NULL,
    text text NOT NULL,
    value text NOT NULL,
    evidence text NOT NULL,
    PRIMARY KEY (scope_id, type, key)
) PARTITION BY HASH (scope_id);

CREATE UNIQUE INDEX memory_uid ON recollect.memory (scope_id, uid);

CREATE INDEX memory_seq ON recollect.memory (scope_id, seq, uid);

CREATE TABLE recollect.revision (
    scope_id bigint NOT NULL,
    uid bigint NOT NULL,
    version bigint NOT NULL,
    valid_from bigint,
    valid_until bigint,
    believed_from bigint NOT NULL,
    believed_until bigint NOT NULL,
    trust text COLLATE "C" NOT NULL CHECK (trust IN ('user', 'assistant', 'external', 'agent')),
    state text COLLATE "C" NOT NULL CHECK (state IN ('active', 'quarantined', 'rejected')),
    cause text NOT NULL,
    text text NOT NULL,
    value text NOT NULL,
    evidence text NOT NULL,
    PRIMARY KEY (scope_id, uid, version)
) PARTITION BY HASH (scope_id);

-- Derived from the evidence of memories and revisions: which of them rest on a message.
CREATE TABLE recollect.evidence (
    scope_id bigint NOT NULL,
    uid bigint NOT NULL,
    thread text COLLATE "C" NOT NULL,
    message text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope_id, thread, message, uid)
) PARTITION BY HASH (scope_id);

CREATE INDEX evidence_uid ON recollect.evidence (scope_id, uid);

CREATE TABLE recollect.vector (
    scope_id bigint NOT NULL,
    uid bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    text_hash bytea NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (scope_id, uid, embedder)
) PARTITION BY HASH (scope_id);

CREATE TABLE recollect.embedded (
    scope_id bigint NOT NULL,
    seq bigint NOT NULL,
    embedder text COLLATE "C" NOT NULL,
    PRIMARY KEY (scope_id, embedder)
) PARTITION BY HASH (scope_id);

CREATE TABLE recollect.tombstone (
    scope_id bigint NOT NULL,
    seq bigint NOT NULL,
    uid bigint NOT NULL,
    PRIMARY KEY (scope_id, seq, uid)
) PARTITION BY HASH (scope_id);

CREATE TABLE recollect.idempotency (
    scope_id bigint NOT NULL,
    kept_at bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    result text NOT NULL,
    PRIMARY KEY (scope_id, key)
) PARTITION BY HASH (scope_id);

CREATE INDEX idempotency_time ON recollect.idempotency (scope_id, kept_at);

-- JSON objects beside messages and memories; thread is '' for those of the whole scope.
CREATE TABLE recollect.side_record (
    scope_id bigint NOT NULL,
    uid bigint NOT NULL,
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    thread text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (scope_id, thread, kind, key)
) PARTITION BY HASH (scope_id);

CREATE TABLE recollect.formation (
    scope_id bigint NOT NULL,
    fence bigint NOT NULL,
    committed_at bigint NOT NULL,
    calls bigint NOT NULL,
    tokens bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL CHECK (
        status IN ('formed', 'failed', 'dead', 'redriven', 'consolidated')
    ),
    watermarks text NOT NULL,
    failed text NOT NULL,
    receipt text NOT NULL,
    PRIMARY KEY (scope_id, id)
) PARTITION BY HASH (scope_id);

CREATE INDEX formation_time ON recollect.formation (scope_id, committed_at, fence, id, status);

-- A receipt names no scope: all it keeps of what was erased is a keyed hash.
CREATE TABLE recollect.receipt (
    messages bigint NOT NULL,
    memories bigint NOT NULL,
    revised bigint NOT NULL,
    erased_at bigint NOT NULL,
    clean_at bigint,
    id text COLLATE "C" PRIMARY KEY,
    target bytea NOT NULL
);

CREATE INDEX receipt_time ON recollect.receipt (erased_at, id);

CREATE INDEX receipt_unclean ON recollect.receipt (erased_at, id) WHERE clean_at IS NULL;

DO $$
DECLARE
    modulus integer := coalesce(nullif(current_setting('recollect.partitions', true), ''), '0');
    parted text;
BEGIN
    FOREACH parted IN ARRAY ARRAY[
        'thread', 'message', 'memory', 'revision', 'evidence', 'vector', 'embedded', 'tombstone',
        'idempotency', 'formation', 'side_record'
    ] LOOP
        FOR remainder IN 0..modulus - 1 LOOP
            EXECUTE format(
                'CREATE TABLE recollect.%I PARTITION OF recollect.%I'
                ' FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                parted || '_' || remainder, parted, modulus, remainder
            );
        END LOOP;
        EXECUTE format(
            'CREATE POLICY wall ON recollect.%I USING (scope_id + 0 = ANY (('
            'SELECT string_to_array(current_setting(''recollect.scope'', true), '','')::bigint[]'
            ')::bigint[]))',
            parted
        );
        EXECUTE format(
            'ALTER TABLE recollect.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', parted
        );
        EXECUTE format(
            'GRANT SELECT, INSERT, UPDATE, DELETE ON recollect.%I TO recollect_app', parted
        );
    END LOOP;
END $$;

CREATE POLICY sweep ON recollect.thread FOR SELECT
USING ((SELECT current_setting('recollect.sweep', true) = 'on'));

CREATE POLICY sweep ON recollect.embedded FOR SELECT
USING ((SELECT current_setting('recollect.sweep', true) = 'on'));

CREATE POLICY wall ON recollect.scope
USING (id + 0 = ANY ((
    SELECT string_to_array(current_setting('recollect.scope', true), ',')::bigint[]
)::bigint[]));

CREATE POLICY reach ON recollect.scope FOR SELECT
USING (
    path >= (SELECT decode(current_setting('recollect.first', true), 'hex'))
    AND path < (SELECT decode(current_setting('recollect.end', true), 'hex'))
);

-- FOR UPDATE needs an update policy: scopes are locked as they are found by path.
CREATE POLICY lock ON recollect.scope FOR UPDATE
USING (
    path >= (SELECT decode(current_setting('recollect.first', true), 'hex'))
    AND path < (SELECT decode(current_setting('recollect.end', true), 'hex'))
)
WITH CHECK (false);

ALTER TABLE recollect.scope ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

GRANT SELECT, INSERT, UPDATE, DELETE ON recollect.scope TO recollect_app;
GRANT SELECT, INSERT, UPDATE ON recollect.receipt TO recollect_app;
GRANT SELECT ON recollect.meta TO recollect_app;
GRANT USAGE ON SEQUENCE recollect.number TO recollect_app;
GRANT USAGE ON SCHEMA recollect TO recollect_app;

-- The planner's statistics hold samples of column values, and an erase does not remove them. So no
-- statistics are kept for columns with users' words.
DO $$
DECLARE
    said record;
BEGIN
    FOR said IN
        SELECT c.relname, a.attname
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
            AND NOT c.relispartition AND c.relname <> 'meta'
            AND a.attnum > 0 AND NOT a.attisdropped
            AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
            AND a.attname NOT IN ('role', 'state', 'trust', 'status', 'embedder', 'lease_owner')
    LOOP
        EXECUTE format(
            'ALTER TABLE recollect.%I ALTER COLUMN %I SET STATISTICS 0', said.relname, said.attname
        );
    END LOOP;
END $$;

-- Audit log: one hash chain per scope, under a keyed hash of its name, which outlives the scope. A
-- transaction sees the chains named in recollect.first, separated by commas, with recollect.end empty.
-- Rows can be added and read; the only change allowed is to remove an actor's name.
CREATE TABLE recollect.audit (
    n bigint NOT NULL,
    at bigint NOT NULL,
    chain bytea NOT NULL,
    actor text COLLATE "C",
    actor_key bytea NOT NULL,
    action text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (chain, n)
);

-- The last row of each chain, kept apart, so that a removed tail is noticed.
CREATE TABLE recollect.audit_head (
    n bigint NOT NULL,
    chain bytea PRIMARY KEY,
    hash bytea NOT NULL
);

DO $$
DECLARE
    chained text;
    said text;
BEGIN
    FOREACH chained IN ARRAY ARRAY['audit', 'audit_head'] LOOP
        EXECUTE format(
            'CREATE POLICY wall ON recollect.%I USING (chain = ANY (('
            'SELECT CASE WHEN current_setting(''recollect.end'', true) = '''' THEN ARRAY('
            'SELECT decode(named.chain, ''hex'') FROM unnest('
            'string_to_array(current_setting(''recollect.first'', true), '','')) AS named (chain)'
            ') END)::bytea[]))',
            chained
        );
        EXECUTE format(
            'ALTER TABLE recollect.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', chained
        );
    END LOOP;
    -- As above: no statistics for columns that tell of a person.
    FOREACH said IN ARRAY ARRAY[
        'chain', 'actor', 'actor_key', 'action', 'subject', 'digest', 'previous', 'hash'
    ] LOOP
        EXECUTE format('ALTER TABLE recollect.audit ALTER COLUMN %I SET STATISTICS 0', said);
    END LOOP;
    ALTER TABLE recollect.audit_head ALTER COLUMN chain SET STATISTICS 0;
    ALTER TABLE recollect.audit_head ALTER COLUMN hash SET STATISTICS 0;
END $$;

GRANT SELECT, INSERT ON recollect.audit TO recollect_app;
GRANT UPDATE (actor) ON recollect.audit TO recollect_app;
GRANT SELECT, INSERT, UPDATE ON recollect.audit_head TO recollect_app;
