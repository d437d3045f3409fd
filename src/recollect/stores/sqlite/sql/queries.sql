-- The reads of transactions; columns are in the order of the row's fields.

-- :name new_number
UPDATE meta SET number = number + 1 RETURNING number;

-- :name secret
SELECT secret FROM meta;

-- :name scope
SELECT id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
FROM scope WHERE path = ?;

-- :name scope_by_id
SELECT id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
FROM scope WHERE id = ?;

-- :name scopes_below
SELECT id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
FROM scope WHERE path >= ? AND path > ? AND path < ? ORDER BY path;

-- :name scopes_holding
SELECT path FROM scope
WHERE path >= ? AND path > ? AND path < ? AND EXISTS (
    SELECT 1 FROM memory
    WHERE scope_id = scope.id AND type = ? AND state = 'active'
        AND (expires_at IS NULL OR expires_at > ?)
)
ORDER BY path;

-- :name thread
SELECT scope_id, number, id, created_at, last, count, formed, first_pending_at, due,
    not_before, attempts, state, waiting_tokens, again, lanes, settings
FROM thread WHERE scope_id = ? AND id = ?;

-- :name threads
SELECT scope_id, number, id, created_at, last, count, formed, first_pending_at, due,
    not_before, attempts, state, waiting_tokens, again, lanes, settings
FROM thread WHERE scope_id = ? AND id > ? ORDER BY id LIMIT ?;

-- :name thread_id
SELECT id FROM thread WHERE scope_id = ? AND number = ?;

-- :name messages
SELECT scope_id, thread, uid, id, position, role, name, text, content, time, session, source,
    metadata, kept_at, digest, seq, terms, text_hash, checksum
FROM message WHERE scope_id = ? AND thread = ? AND position > ? AND position <= ?
ORDER BY position LIMIT ?;

-- :name count_messages
SELECT count(*) FROM message WHERE scope_id = ? AND thread = ? AND position > ?;

-- :name last_messages
SELECT scope_id, thread, uid, id, position, role, name, text, content, time, session, source,
    metadata, kept_at, digest, seq, terms, text_hash, checksum
FROM message WHERE scope_id = ? AND thread = ? AND position < ?
ORDER BY position DESC LIMIT ?;

-- :name message_by_id
SELECT scope_id, thread, uid, id, position, role, name, text, content, time, session, source,
    metadata, kept_at, digest, seq, terms, text_hash, checksum
FROM message WHERE scope_id = ? AND thread = ? AND id = ?;

-- :name message_by_uid
SELECT scope_id, thread, uid, id, position, role, name, text, content, time, session, source,
    metadata, kept_at, digest, seq, terms, text_hash, checksum
FROM message WHERE scope_id = ? AND uid = ?;

-- :name messages_of_source
SELECT scope_id, thread, uid, id, position, role, name, text, content, time, session, source,
    metadata, kept_at, digest, seq, terms, text_hash, checksum
FROM message INDEXED BY message_source WHERE scope_id = ? AND source = ? ORDER BY thread, position;

-- :name all_messages
SELECT scope_id, thread, uid, id, position, role, name, text, content, time, session, source,
    metadata, kept_at, digest, seq, terms, text_hash, checksum
FROM message WHERE scope_id = ? ORDER BY thread, position;

-- :name message_count
SELECT count(*) FROM message INDEXED BY message_uid WHERE scope_id = ?;

-- :name memory_count
SELECT count(*) FROM memory INDEXED BY memory_uid WHERE scope_id = ?;

-- :name memory
SELECT scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at, checksum
FROM memory WHERE scope_id = ? AND type = ? AND key = ?;

-- :name memory_by_uid
SELECT scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at, checksum
FROM memory WHERE scope_id = ? AND uid = ?;

-- :name memory_in
SELECT ?1, scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at, checksum
FROM memory WHERE scope_id = (SELECT id FROM scope WHERE path = ?2) AND uid = ?3;

-- :name memories
SELECT scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at, checksum
FROM memory WHERE scope_id = ? AND (type, key) > (?, ?) AND state = coalesce(?, state)
ORDER BY type, key;

-- :name memories_of_type
SELECT scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at, checksum
FROM memory WHERE scope_id = ? AND type = ? AND key > ? AND state = coalesce(?, state)
ORDER BY key;

-- :name updates
-- Reads only narrow columns, which come before the wide ones in a row.
SELECT updated_at, uid FROM memory
WHERE scope_id = ? AND type = ? AND state = 'active' AND (expires_at IS NULL OR expires_at > ?)
ORDER BY key;

-- :name side_record
SELECT scope_id, uid, thread, kind, key, version, value, created_at, updated_at, expires_at, checksum
FROM side_record WHERE scope_id = ? AND thread = ? AND kind = ? AND key = ?;

-- :name side_records
SELECT scope_id, uid, thread, kind, key, version, value, created_at, updated_at, expires_at, checksum
FROM side_record
WHERE scope_id = ? AND (thread, kind, key) > (?, ?, ?) AND (thread, kind, key) < (?, ?, ?)
ORDER BY thread, kind, key;

-- :name side_record_count
SELECT count(*) FROM side_record INDEXED BY side_record_uid WHERE scope_id = ?;

-- :name resting_on
SELECT uid FROM evidence WHERE scope_id = ? AND thread = ? AND message = ?;

-- :name evidence_in
SELECT DISTINCT message FROM evidence WHERE scope_id = ? AND thread = ? ORDER BY message;

-- :name revisions
SELECT scope_id, uid, version, value, text, valid_from, valid_until, evidence, trust, state,
    cause, believed_from, believed_until, checksum
FROM revision WHERE scope_id = ? AND uid = ? ORDER BY version;

-- :name idempotency
SELECT scope_id, key, digest, result, kept_at FROM idempotency WHERE scope_id = ? AND key = ?;

-- :name keys_of
SELECT scope_id, key, digest, result, kept_at FROM idempotency WHERE scope_id = ?;

-- :name changed
SELECT m.uid, m.seq, 'message' AS kind, m.thread, m.session, m.position, m.time, m.name AS speaker,
    m.role, NULL AS type, 'active' AS state, NULL AS valid_from, NULL AS valid_until,
    NULL AS expires_at, m.terms, v.data AS vector, NULL AS updated_at
FROM message AS m INDEXED BY message_seq
LEFT JOIN vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = ?3 AND v.text_hash = m.text_hash
WHERE m.scope_id = ?1 AND m.seq > ?2
UNION ALL
SELECT m.uid, m.seq, 'memory', 0, CAST(m.uid AS TEXT), 0,
    coalesce(m.valid_from, m.said_at, m.updated_at), NULL, 'user', m.type, m.state,
    m.valid_from, m.valid_until, m.expires_at, m.terms, v.data, m.updated_at
FROM memory AS m INDEXED BY memory_seq
LEFT JOIN vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = ?3 AND v.text_hash = m.text_hash
WHERE m.scope_id = ?1 AND m.seq > ?2
ORDER BY 2, 1;

-- :name memory_summaries
SELECT count(*), json_group_array(uid), json_group_array(type),
    json_group_array(state), json_group_array(time),
    CASE WHEN count(valid_from) THEN json_group_array(valid_from) END,
    CASE WHEN count(valid_until) THEN json_group_array(valid_until) END,
    CASE WHEN count(expires_at) THEN json_group_array(expires_at) END,
    json_group_array(updated_at)
FROM (
    SELECT uid, type, state, coalesce(valid_from, said_at, updated_at) AS time, valid_from,
        valid_until, expires_at, updated_at
    FROM memory WHERE scope_id = ?
);

-- :name has_many
SELECT 1 FROM (
    SELECT uid FROM message INDEXED BY message_uid WHERE scope_id = ?1
    UNION ALL SELECT uid FROM memory INDEXED BY memory_uid WHERE scope_id = ?1
) LIMIT 1 OFFSET ?2;

-- :name message_block
-- Many entries in one row, with each column joined into one value: creating an object for every
-- value takes longer than reading. The cast keeps the driver from decoding joined bytes as text.
SELECT count(*),
    group_concat(uid), group_concat(seq), group_concat(thread), group_concat(position),
    group_concat(time), json_group_array(session),
    CASE WHEN count(name) THEN json_group_array(name) END, json_group_array(role),
    NULL, NULL, NULL, NULL, NULL,
    group_concat(length(terms)), CAST(group_concat(terms, '') AS BLOB),
    CAST(group_concat(text_hash, '') AS BLOB), min(terms), max(terms)
FROM (
    SELECT uid, seq, thread, position, time, session, name, role, terms, text_hash
    FROM message WHERE scope_id = ?1 AND (thread, position) > (?2, ?3)
    ORDER BY thread, position LIMIT ?4
);

-- :name memory_block
SELECT count(*),
    group_concat(uid), group_concat(seq), group_concat(0), group_concat(0),
    group_concat(coalesce(valid_from, said_at, updated_at)), json_group_array(CAST(uid AS TEXT)),
    NULL, json_group_array('user'), json_group_array(type),
    CASE WHEN sum(state <> 'active') THEN json_group_array(state) END,
    CASE WHEN count(valid_from) THEN json_group_array(valid_from) END,
    CASE WHEN count(valid_until) THEN json_group_array(valid_until) END,
    CASE WHEN count(expires_at) THEN json_group_array(expires_at) END,
    group_concat(length(terms)), CAST(group_concat(terms, '') AS BLOB),
    CAST(group_concat(text_hash, '') AS BLOB), min(terms), max(terms)
FROM (
    SELECT uid, seq, type, state, valid_from, said_at, updated_at, valid_until, expires_at, terms,
        text_hash
    FROM memory INDEXED BY memory_seq WHERE scope_id = ?1 AND (seq, uid) > (?2, ?3)
    ORDER BY seq, uid LIMIT ?4
);

-- :name vector_block
SELECT count(*), group_concat(uid), CAST(group_concat(text_hash, '') AS BLOB),
    group_concat(length(data)), CAST(group_concat(data, '') AS BLOB)
FROM (
    SELECT uid, text_hash, data FROM vector
    WHERE scope_id = ?1 AND uid > ?2 AND embedder = ?3 ORDER BY uid LIMIT ?4
);

-- :name removed
SELECT uid FROM tombstone WHERE scope_id = ? AND seq > ?;

-- :name due_threads
-- Finds the longest due threads by one index and the leases of scopes, then reads only their rows.
SELECT s.id, s.path, s.created_at, s.epoch, s.seq, s.compacted, s.fence, s.lease_owner,
    s.lease_until,
    t.scope_id, t.number, t.id, t.created_at, t.last, t.count, t.formed, t.first_pending_at,
    t.due, t.not_before, t.attempts, t.state, t.waiting_tokens, t.again, t.lanes, t.settings
FROM (
    SELECT d.scope_id, d.id
    FROM thread AS d INDEXED BY thread_due CROSS JOIN scope AS l ON l.id = d.scope_id
    WHERE d.due IS NOT NULL AND d.state = 'active' AND (d.formed < d.last OR d.again <> '[]')
        AND d.due <= ?1 AND (d.not_before IS NULL OR d.not_before <= ?1)
        AND (l.lease_owner IS NULL OR coalesce(l.lease_until, 0) <= ?1)
    ORDER BY d.due, d.number LIMIT ?2
) AS found
CROSS JOIN thread AS t ON t.scope_id = found.scope_id AND t.id = found.id
CROSS JOIN scope AS s ON s.id = t.scope_id
ORDER BY t.due, t.number;

-- :name due_threads_of
SELECT scope_id, number, id, created_at, last, count, formed, first_pending_at, due,
    not_before, attempts, state, waiting_tokens, again, lanes, settings
FROM thread INDEXED BY thread_waiting
WHERE (formed < last OR again <> '[]') AND state = 'active'
    AND scope_id = ?1 AND due <= ?2 AND (not_before IS NULL OR not_before <= ?2)
ORDER BY due, number LIMIT ?3;

-- :name waiting_threads
SELECT s.id, s.path, s.created_at, s.epoch, s.seq, s.compacted, s.fence, s.lease_owner,
    s.lease_until,
    t.scope_id, t.number, t.id, t.created_at, t.last, t.count, t.formed, t.first_pending_at,
    t.due, t.not_before, t.attempts, t.state, t.waiting_tokens, t.again, t.lanes, t.settings
FROM scope AS s
CROSS JOIN thread AS t INDEXED BY thread_waiting ON t.scope_id = s.id
WHERE s.path >= ?1 AND s.path >= ?3 AND s.path < ?2 AND (s.path > ?3 OR t.id > ?4)
    AND (t.formed < t.last OR t.again <> '[]' OR t.lanes <> '{}')
ORDER BY s.path, t.id LIMIT ?5;

-- :name formation
SELECT scope_id, id, fence, committed_at, status, calls, tokens, watermarks, failed, receipt
FROM formation WHERE scope_id = ? AND id = ?;

-- :name formations
SELECT f.scope_id, f.id, f.fence, f.committed_at, f.status, f.calls, f.tokens, f.watermarks,
    f.failed, f.receipt
FROM formation AS f INDEXED BY formation_time
WHERE f.scope_id = ?1 AND (f.committed_at, f.fence, f.id) < (?2, ?3, ?4)
    AND (?5 IS NULL OR f.status = ?5)
ORDER BY f.committed_at DESC, f.fence DESC, f.id DESC LIMIT ?6;

-- :name spent
SELECT coalesce(sum(calls), 0), coalesce(sum(tokens), 0)
FROM formation INDEXED BY formation_time WHERE scope_id = ? AND committed_at >= ?;

-- :name unembedded_scopes
SELECT s.id
FROM scope AS s INDEXED BY scope_seq
LEFT JOIN embedded AS e ON e.scope_id = s.id AND e.embedder = ?1
WHERE coalesce(e.seq, 0) < s.seq ORDER BY s.id LIMIT ?2;

-- :name unembedded
SELECT m.uid, m.seq
FROM message AS m INDEXED BY message_seq
LEFT JOIN vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = ?3 AND v.text_hash = m.text_hash
WHERE m.scope_id = ?1 AND m.seq > ?2 AND v.uid IS NULL
UNION ALL
SELECT m.uid, m.seq
FROM memory AS m INDEXED BY memory_seq
LEFT JOIN vector AS v
    ON v.scope_id = m.scope_id AND v.uid = m.uid AND v.embedder = ?3 AND v.text_hash = m.text_hash
WHERE m.scope_id = ?1 AND m.seq > ?2 AND v.uid IS NULL
ORDER BY 2, 1 LIMIT ?4;

-- :name embedded_seq
SELECT seq FROM embedded WHERE scope_id = ? AND embedder = ?;

-- :name receipts
SELECT id, target, messages, memories, revised, erased_at, clean_at
FROM receipt ORDER BY erased_at, id;

-- :name receipts_unclean
SELECT id, target, messages, memories, revised, erased_at, clean_at
FROM receipt WHERE clean_at IS NULL ORDER BY erased_at, id;

-- :name audit_head
SELECT n, hash FROM audit_head WHERE chain = ?;

-- :name audit
SELECT chain, n, at, actor, actor_key, action, subject, digest, previous, hash
FROM audit WHERE chain = ? AND n > ? ORDER BY n LIMIT ?;

-- :name index_files
SELECT scope_id, name, epoch, seq, embedder, form, size_bytes, digest
FROM index_file WHERE scope_id = ?;

-- :name has_index_file
SELECT 1 FROM index_file WHERE scope_id = ? LIMIT 1;

-- :name all_index_files
SELECT scope_id, name, epoch, seq, embedder, form, size_bytes, digest
FROM index_file;
