-- Queries of one transaction; columns are in the order of the rows' fields. Queries of one scope name
-- its scope_id themselves: row-level security checks what they find and never finds it for them.

-- :name new_number
SELECT nextval('recollect.number');

-- :name lock_path
-- Until this transaction ends, no other can create a scope with this path.
SELECT pg_advisory_xact_lock(hashtextextended(encode(%s, 'hex'), 5504684914225340236));

-- :name scope
SELECT
    id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
FROM recollect.scope WHERE digest = %s AND path = %s;

-- :name scope_positions
SELECT path, epoch, seq FROM recollect.scope WHERE digest = ANY (%s::bytea[]);

-- :name scope_by_id
SELECT
    id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
FROM recollect.scope WHERE id = %s;

-- :name scopes_below
SELECT
    id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
FROM recollect.scope
WHERE head >= %s AND path >= %s AND path > %s AND path < %s ORDER BY head, path LIMIT %s;

-- :name thread
SELECT
    scope_id, number, id, created_at, last, count, formed, first_pending_at, due, not_before,
    attempts, state, waiting_tokens, again, lanes, settings
FROM recollect.thread WHERE scope_id = %s AND id = %s;

-- :name threads
SELECT
    scope_id, number, id, created_at, last, count, formed, first_pending_at, due, not_before,
    attempts, state, waiting_tokens, again, lanes, settings
FROM recollect.thread WHERE scope_id = %s AND id > %s ORDER BY id LIMIT %s;

-- :name thread_ids
SELECT number, id FROM recollect.thread WHERE scope_id = %s AND number = ANY (%s::bigint[]);

-- :name messages
SELECT
    scope_id, thread, uid, id, position, role, name, text, content, time, session, source, metadata,
    kept_at, digest, seq, terms, text_hash
FROM recollect.message
WHERE scope_id = %s AND thread = %s AND position > %s AND position <= %s
ORDER BY position LIMIT %s;

-- :name count_messages
SELECT count(*) FROM recollect.message WHERE scope_id = %s AND thread = %s AND position > %s;

-- :name last_messages
SELECT
    scope_id, thread, uid, id, position, role, name, text, content, time, session, source, metadata,
    kept_at, digest, seq, terms, text_hash
FROM recollect.message WHERE scope_id = %s AND thread = %s AND position < %s
ORDER BY position DESC LIMIT %s;

-- :name messages_by_id
SELECT
    scope_id, thread, uid, id, position, role, name, text, content, time, session, source, metadata,
    kept_at, digest, seq, terms, text_hash
FROM recollect.message WHERE scope_id = %s AND thread = %s AND id = ANY (%s::text[]);

-- :name messages_by_uid
-- With the ids of the threads, because callers that look up messages by uid show them.
SELECT
    m.scope_id, m.thread, m.uid, m.id, m.position, m.role, m.name, m.text, m.content, m.time,
    m.session, m.source, m.metadata, m.kept_at, m.digest, m.seq, m.terms, m.text_hash, t.id
FROM recollect.message AS m
JOIN recollect.thread AS t ON t.scope_id = m.scope_id AND t.number = m.thread
WHERE m.scope_id = %s AND m.uid = ANY (%s::bigint[]);

-- :name messages_of_source
SELECT
    scope_id, thread, uid, id, position, role, name, text, content, time, session, source, metadata,
    kept_at, digest, seq, terms, text_hash
FROM recollect.message WHERE scope_id = %s AND source = %s ORDER BY thread, position;

-- :name all_messages
SELECT
    scope_id, thread, uid, id, position, role, name, text, content, time, session, source, metadata,
    kept_at, digest, seq, terms, text_hash
FROM recollect.message WHERE scope_id = %s AND (thread, position) > (%s, %s)
ORDER BY thread, position LIMIT %s;

-- :name memory
SELECT
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from, valid_until,
    expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at
FROM recollect.memory WHERE scope_id = %s AND type = %s AND key = %s;

-- :name memories_at
SELECT
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from, valid_until,
    expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at
FROM recollect.memory
WHERE scope_id = %s AND (type, key) IN (SELECT * FROM unnest(%s::text[], %s::text[]));

-- :name memories_by_uid
SELECT
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from, valid_until,
    expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at
FROM recollect.memory WHERE scope_id = %s AND uid = ANY (%s::bigint[]);

-- :name side_records_at
SELECT scope_id, uid, thread, kind, key, version, value, created_at, updated_at, expires_at
FROM recollect.side_record
WHERE scope_id = %s AND (thread, kind, key) IN (
    SELECT * FROM unnest(%s::text[], %s::text[], %s::text[])
);

-- :name side_records
SELECT scope_id, uid, thread, kind, key, version, value, created_at, updated_at, expires_at
FROM recollect.side_record
WHERE scope_id = %s AND (thread, kind, key) > (%s, %s, %s) AND (thread, kind, key) < (%s, %s, %s)
ORDER BY thread, kind, key LIMIT %s;

-- :name memories
SELECT
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from, valid_until,
    expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at
FROM recollect.memory
WHERE scope_id = %s AND (type, key) > (%s, %s) AND state = coalesce(%s::text, state)
ORDER BY type, key LIMIT %s;

-- :name memories_of_type
SELECT
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from, valid_until,
    expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at
FROM recollect.memory
WHERE scope_id = %s AND type = %s AND key > %s AND state = coalesce(%s::text, state)
ORDER BY key LIMIT %s;

-- :name updates
SELECT updated_at, uid FROM recollect.memory
WHERE scope_id = %s AND type = %s AND state = 'active' AND (expires_at IS NULL OR expires_at > %s)
ORDER BY key;

-- :name citations
SELECT
    uid, thread, message
FROM recollect.evidence
WHERE scope_id = %s
    AND (thread, message) IN (SELECT * FROM unnest(%s::text[], %s::text[]));

-- :name evidence_in
SELECT DISTINCT message
FROM recollect.evidence WHERE scope_id = %s AND thread = %s ORDER BY message;

-- :name revisions
SELECT
    scope_id, uid, version, value, text, valid_from, valid_until, evidence, trust, state, cause,
    believed_from, believed_until
FROM recollect.revision WHERE scope_id = %s AND uid = %s ORDER BY version;

-- :name revisions_in
SELECT
    scope_id, uid, version, value, text, valid_from, valid_until, evidence, trust, state, cause,
    believed_from, believed_until
FROM recollect.revision WHERE scope_id = %s AND uid = ANY(%s::bigint[]);

-- :name idempotency
SELECT
    scope_id, key, digest, result, kept_at
FROM recollect.idempotency WHERE scope_id = %s AND key = %s;

-- :name keys_of
SELECT scope_id, key, digest, result, kept_at FROM recollect.idempotency WHERE scope_id = %s;

-- :name changed
SELECT
    m.uid, m.seq, 'message' AS kind, m.thread, m.session, m.position, m.time, m.name AS speaker,
    m.role, NULL::text AS type, 'active' AS state, NULL::bigint AS valid_from,
    NULL::bigint AS valid_until, NULL::bigint AS expires_at, m.terms, v.data AS vector,
    NULL::bigint AS updated_at
FROM recollect.message AS m
LEFT JOIN recollect.vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = %s AND v.text_hash = m.text_hash
WHERE m.scope_id = %s AND m.seq > %s
UNION ALL
SELECT
    m.uid, m.seq, 'memory', 0, m.uid::text, 0, coalesce(m.valid_from, m.said_at, m.updated_at),
    NULL, 'user', m.type, m.state, m.valid_from, m.valid_until, m.expires_at, m.terms, v.data,
    m.updated_at
FROM recollect.memory AS m
LEFT JOIN recollect.vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = %s AND v.text_hash = m.text_hash
WHERE m.scope_id = %s AND m.seq > %s
ORDER BY 2, 1;

-- :name memory_summaries
SELECT
    uid, type, state, coalesce(valid_from, said_at, updated_at), valid_from, valid_until,
    expires_at, updated_at
FROM recollect.memory WHERE scope_id = %s;

-- :name removed
SELECT uid FROM recollect.tombstone WHERE scope_id = %s AND seq > %s;

-- :name due_threads
SELECT
    s.id, s.path, s.created_at, s.epoch, s.seq, s.compacted, s.fence, s.lease_owner, s.lease_until,
    t.scope_id, t.number, t.id, t.created_at, t.last, t.count, t.formed, t.first_pending_at, t.due,
    t.not_before, t.attempts, t.state, t.waiting_tokens, t.again, t.lanes, t.settings
FROM recollect.thread AS t
JOIN recollect.scope AS s ON s.id = t.scope_id
WHERE t.due IS NOT NULL AND t.state = 'active' AND (t.formed < t.last OR t.again <> '[]')
    AND t.due <= %s AND (t.not_before IS NULL OR t.not_before <= %s)
    AND (s.lease_owner IS NULL OR coalesce(s.lease_until, 0) <= %s)
ORDER BY t.due, t.number LIMIT %s;

-- :name due_threads_of
SELECT
    scope_id, number, id, created_at, last, count, formed, first_pending_at, due, not_before,
    attempts, state, waiting_tokens, again, lanes, settings
FROM recollect.thread
WHERE (formed < last OR again <> '[]') AND state = 'active'
    AND scope_id = %s AND due <= %s AND (not_before IS NULL OR not_before <= %s)
ORDER BY due, number LIMIT %s;

-- :name waiting_threads
SELECT
    s.id, s.path, s.created_at, s.epoch, s.seq, s.compacted, s.fence, s.lease_owner, s.lease_until,
    t.scope_id, t.number, t.id, t.created_at, t.last, t.count, t.formed, t.first_pending_at, t.due,
    t.not_before, t.attempts, t.state, t.waiting_tokens, t.again, t.lanes, t.settings
FROM recollect.scope AS s
JOIN recollect.thread AS t ON t.scope_id = s.id
WHERE s.head >= %s AND s.path >= %s AND s.path < %s AND (s.path, t.id) > (%s, %s)
    AND (t.formed < t.last OR t.again <> '[]' OR t.lanes <> '{}')
ORDER BY s.head, s.path, t.id LIMIT %s;

-- :name formation
SELECT
    scope_id, id, fence, committed_at, status, calls, tokens, watermarks, failed, receipt
FROM recollect.formation WHERE scope_id = %s AND id = %s;

-- :name formations
SELECT
    scope_id, id, fence, committed_at, status, calls, tokens, watermarks, failed, receipt
FROM recollect.formation
WHERE scope_id = %s AND (committed_at, fence, id) < (%s, %s, %s)
    AND (%s::text IS NULL OR status = %s)
ORDER BY committed_at DESC, fence DESC, id DESC LIMIT %s;

-- :name spent
SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(tokens), 0)::bigint
FROM recollect.formation WHERE scope_id = %s AND committed_at >= %s;

-- :name unembedded_scopes
SELECT s.id
FROM recollect.scope AS s
LEFT JOIN recollect.embedded AS e ON e.scope_id = s.id AND e.embedder = %s
WHERE coalesce(e.seq, 0) < s.seq ORDER BY s.id LIMIT %s;

-- :name unembedded
SELECT m.uid, m.seq
FROM recollect.message AS m
LEFT JOIN recollect.vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = %s AND v.text_hash = m.text_hash
WHERE m.scope_id = %s AND m.seq > %s AND v.uid IS NULL
UNION ALL
SELECT m.uid, m.seq
FROM recollect.memory AS m
LEFT JOIN recollect.vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = %s AND v.text_hash = m.text_hash
WHERE m.scope_id = %s AND m.seq > %s AND v.uid IS NULL
ORDER BY 2, 1 LIMIT %s;

-- :name embedded_seq
SELECT seq FROM recollect.embedded WHERE scope_id = %s AND embedder = %s;

-- :name receipts
SELECT
    id, target, messages, memories, revised, erased_at, clean_at
FROM recollect.receipt ORDER BY erased_at, id;

-- :name receipts_unclean
SELECT
    id, target, messages, memories, revised, erased_at, clean_at
FROM recollect.receipt WHERE clean_at IS NULL ORDER BY erased_at, id;

-- :name audit_head
SELECT n, hash FROM recollect.audit_head WHERE chain = %s;

-- :name audit
SELECT
    chain, n, at, actor, actor_key, action, subject, digest, previous, hash
FROM recollect.audit WHERE chain = %s AND n > %s ORDER BY n LIMIT %s;
