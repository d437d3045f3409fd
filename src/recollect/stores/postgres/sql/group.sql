-- Queries for a group of small writes to many scopes, one statement for all of them. The arrays name the
-- rows that each write asks for; each row names its scope. Row-level security shows these scopes
-- and no others. A lateral subquery with LIMIT keeps the planner from reordering the join, and its
-- ORDER BY leaves one index to read from, so that each row is an index look-up without statistics.

-- :name lock_scopes
-- A scope that another transaction has locked is skipped: its write waits for it alone.
SELECT
    s.id, s.path, s.created_at, s.epoch, s.seq, s.compacted, s.fence, s.lease_owner, s.lease_until
FROM unnest(%s::bigint[], %s::bytea[]) AS asked (id, path)
JOIN recollect.scope AS s ON s.id = asked.id AND s.path = asked.path
FOR UPDATE OF s SKIP LOCKED;

-- :name threads
SELECT
    t.scope_id, t.number, t.id, t.created_at, t.last, t.count, t.formed, t.first_pending_at, t.due,
    t.not_before, t.attempts, t.state, t.waiting_tokens, t.again, t.lanes, t.settings
FROM unnest(%s::bigint[], %s::text[]) AS asked (scope_id, id)
CROSS JOIN LATERAL (
    SELECT * FROM recollect.thread AS t
    WHERE t.scope_id = asked.scope_id AND t.id >= asked.id AND t.id <= asked.id
    ORDER BY t.id LIMIT 1
) AS t;

-- :name messages
-- Without an id: the last message of the thread.
SELECT
    m.scope_id, m.thread, m.uid, m.id, m.position, m.role, m.name, m.text, m.content, m.time,
    m.session, m.source, m.metadata, m.kept_at, m.digest, m.seq, m.terms, m.text_hash
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS asked (scope_id, thread, id)
CROSS JOIN LATERAL (
    SELECT * FROM recollect.thread AS t
    WHERE t.scope_id = asked.scope_id AND t.id >= asked.thread AND t.id <= asked.thread
    ORDER BY t.id LIMIT 1
) AS t
CROSS JOIN LATERAL (
    (
        SELECT * FROM recollect.message AS m
        WHERE m.scope_id = t.scope_id AND m.thread = t.number AND asked.id IS NULL
        ORDER BY m.position DESC LIMIT 1
    )
    UNION ALL
    (
        SELECT * FROM recollect.message AS m
        WHERE m.scope_id = t.scope_id AND m.thread = t.number
            AND m.id >= asked.id AND m.id <= asked.id
        ORDER BY m.id LIMIT 1
    )
) AS m;

-- :name memories
SELECT
    m.scope_id, m.uid, m.type, m.key, m.version, m.value, m.text, m.created_at, m.updated_at,
    m.valid_from, m.valid_until, m.expires_at, m.evidence, m.trust, m.state, m.cause, m.seq,
    m.terms, m.text_hash, m.said_at
FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS asked (scope_id, type, key)
CROSS JOIN LATERAL (
    SELECT * FROM recollect.memory AS m
    WHERE m.scope_id = asked.scope_id AND m.type = asked.type
        AND m.key >= asked.key AND m.key <= asked.key
    ORDER BY m.key LIMIT 1
) AS m;

-- :name idempotency
SELECT k.scope_id, k.key, k.digest, k.result, k.kept_at
FROM unnest(%s::bigint[], %s::text[]) AS asked (scope_id, key)
JOIN recollect.idempotency AS k ON k.scope_id = asked.scope_id AND k.key = asked.key;

-- :name audit_heads
SELECT chain, n, hash FROM recollect.audit_head WHERE chain = ANY (%s::bytea[]);

-- :name new_numbers
SELECT nextval('recollect.number') FROM generate_series(1, %s);
