-- The writes of transactions; values are in the order of the row's fields.

-- :name sign_commit
UPDATE meta SET commits = commits + 1;

-- :name put_scope
INSERT INTO scope (
    id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    epoch = excluded.epoch,
    seq = excluded.seq,
    compacted = excluded.compacted,
    fence = excluded.fence,
    lease_owner = excluded.lease_owner,
    lease_until = excluded.lease_until;

-- :name put_thread
INSERT INTO thread (
    scope_id, number, id, created_at, last, count, formed, first_pending_at, due,
    not_before, attempts, state, waiting_tokens, again, lanes, settings
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, number) DO UPDATE SET
    created_at = excluded.created_at,
    last = excluded.last,
    count = excluded.count,
    formed = excluded.formed,
    first_pending_at = excluded.first_pending_at,
    due = excluded.due,
    not_before = excluded.not_before,
    attempts = excluded.attempts,
    state = excluded.state,
    waiting_tokens = excluded.waiting_tokens,
    again = excluded.again,
    lanes = excluded.lanes,
    settings = excluded.settings;

-- :name put_message
INSERT INTO message (
    scope_id, thread, uid, id, position, role, name, text, content, time, session, source,
    metadata, kept_at, digest, seq, terms, text_hash, checksum
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, uid) DO UPDATE SET
    role = excluded.role,
    name = excluded.name,
    text = excluded.text,
    content = excluded.content,
    time = excluded.time,
    session = excluded.session,
    source = excluded.source,
    metadata = excluded.metadata,
    kept_at = excluded.kept_at,
    digest = excluded.digest,
    seq = excluded.seq,
    terms = excluded.terms,
    text_hash = excluded.text_hash,
    checksum = excluded.checksum;

-- :name put_memory
INSERT INTO memory (
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from,
    valid_until, expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at, checksum
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, uid) DO UPDATE SET
    version = excluded.version,
    value = excluded.value,
    text = excluded.text,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at,
    valid_from = excluded.valid_from,
    valid_until = excluded.valid_until,
    expires_at = excluded.expires_at,
    evidence = excluded.evidence,
    trust = excluded.trust,
    state = excluded.state,
    cause = excluded.cause,
    seq = excluded.seq,
    terms = excluded.terms,
    text_hash = excluded.text_hash,
    said_at = excluded.said_at,
    checksum = excluded.checksum;

-- :name put_revision
INSERT INTO revision (
    scope_id, uid, version, value, text, valid_from, valid_until, evidence, trust, state,
    cause, believed_from, believed_until, checksum
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, uid, version) DO UPDATE SET
    value = excluded.value,
    text = excluded.text,
    valid_from = excluded.valid_from,
    valid_until = excluded.valid_until,
    evidence = excluded.evidence,
    trust = excluded.trust,
    state = excluded.state,
    cause = excluded.cause,
    believed_from = excluded.believed_from,
    believed_until = excluded.believed_until,
    checksum = excluded.checksum;

-- :name put_vector
INSERT INTO vector (
    scope_id, uid, embedder, text_hash, data
) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope_id, uid, embedder) DO UPDATE SET
    text_hash = excluded.text_hash,
    data = excluded.data;

-- :name put_embedded
INSERT INTO embedded (
    scope_id, embedder, seq
) VALUES (?, ?, ?)
ON CONFLICT (scope_id, embedder) DO UPDATE SET
    seq = excluded.seq;

-- :name put_idempotency
INSERT INTO idempotency (
    scope_id, key, digest, result, kept_at
) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (scope_id, key) DO UPDATE SET
    digest = excluded.digest,
    result = excluded.result,
    kept_at = excluded.kept_at;

-- :name put_formation
INSERT INTO formation (
    scope_id, id, fence, committed_at, status, calls, tokens, watermarks, failed, receipt
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, id) DO UPDATE SET
    status = excluded.status,
    watermarks = excluded.watermarks,
    failed = excluded.failed,
    receipt = excluded.receipt;

-- :name put_receipt
INSERT INTO receipt (
    id, target, messages, memories, revised, erased_at, clean_at
) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    target = excluded.target,
    messages = excluded.messages,
    memories = excluded.memories,
    revised = excluded.revised,
    erased_at = excluded.erased_at,
    clean_at = excluded.clean_at;

-- :name put_evidence
INSERT INTO evidence (
    scope_id, thread, message, uid
) VALUES (?, ?, ?, ?)
ON CONFLICT (scope_id, thread, message, uid) DO NOTHING;

-- :name put_tombstone
INSERT INTO tombstone (scope_id, seq, uid) VALUES (?, ?, ?);

-- :name raise_message
UPDATE message SET seq = ?3 WHERE scope_id = ?1 AND uid = ?2;

-- :name raise_memory
UPDATE memory SET seq = ?3 WHERE scope_id = ?1 AND uid = ?2;

-- :name drop_message
DELETE FROM message WHERE scope_id = ? AND uid = ?;

-- :name drop_memory
DELETE FROM memory WHERE scope_id = ? AND uid = ?;

-- :name drop_revisions
DELETE FROM revision WHERE scope_id = ? AND uid = ?;

-- :name drop_revision
DELETE FROM revision WHERE scope_id = ? AND uid = ? AND version = ?;

-- :name drop_links
DELETE FROM evidence WHERE scope_id = ? AND uid = ?;

-- :name drop_vectors
DELETE FROM vector WHERE scope_id = ? AND uid = ?;

-- :name drop_evidence
DELETE FROM evidence WHERE scope_id = ? AND thread = ? AND message = ?;

-- :name drop_thread
DELETE FROM thread WHERE scope_id = ? AND number = ?;

-- :name forget_old_keys
DELETE FROM idempotency WHERE scope_id = ? AND kept_at < ?;

-- :name compact
DELETE FROM tombstone WHERE scope_id = ? AND seq <= ?;

-- :name drop_scope_message
DELETE FROM message WHERE scope_id = ?;

-- :name drop_scope_memory
DELETE FROM memory WHERE scope_id = ?;

-- :name drop_scope_revision
DELETE FROM revision WHERE scope_id = ?;

-- :name drop_scope_evidence
DELETE FROM evidence WHERE scope_id = ?;

-- :name drop_scope_vector
DELETE FROM vector WHERE scope_id = ?;

-- :name drop_scope_embedded
DELETE FROM embedded WHERE scope_id = ?;

-- :name drop_scope_tombstone
DELETE FROM tombstone WHERE scope_id = ?;

-- :name drop_scope_idempotency
DELETE FROM idempotency WHERE scope_id = ?;

-- :name put_side_record
INSERT INTO side_record (
    scope_id, uid, thread, kind, key, version, value, created_at, updated_at, expires_at, checksum
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (scope_id, thread, kind, key) DO UPDATE SET
    uid = excluded.uid,
    version = excluded.version,
    value = excluded.value,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at,
    expires_at = excluded.expires_at,
    checksum = excluded.checksum;

-- :name drop_side_record
DELETE FROM side_record WHERE scope_id = ? AND thread = ? AND kind = ? AND key = ?;

-- :name drop_scope_side_record
DELETE FROM side_record WHERE scope_id = ?;

-- :name drop_scope_formation
DELETE FROM formation WHERE scope_id = ?;

-- :name drop_scope_thread
DELETE FROM thread WHERE scope_id = ?;

-- :name drop_scope
DELETE FROM scope WHERE id = ?;

-- :name put_audit
INSERT INTO audit (
    chain, n, at, actor, actor_key, action, subject, digest, previous, hash
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- :name put_audit_head
INSERT INTO audit_head (chain, n, hash) VALUES (?, ?, ?)
ON CONFLICT (chain) DO UPDATE SET n = excluded.n, hash = excluded.hash;

-- :name unname_audit
UPDATE audit SET actor = NULL WHERE chain = ?;

-- :name begin_index_file
INSERT INTO index_file (scope_id, name, epoch, seq, embedder, form, size_bytes, digest)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- :name finish_index_file
UPDATE index_file SET size_bytes = ?, digest = ? WHERE scope_id = ? AND name = ?;

-- :name drop_index_files
DELETE FROM index_file WHERE scope_id = ?;

-- :name drop_index_file
DELETE FROM index_file WHERE scope_id = ? AND name = ?;
