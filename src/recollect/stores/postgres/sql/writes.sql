-- Writes of one transaction, many rows per statement; arrays are in the order of the rows' fields.

-- :name put_scope
INSERT INTO recollect.scope (
    id, path, created_at, epoch, seq, compacted, fence, lease_owner, lease_until
)
SELECT * FROM unnest(
    %s::bigint[], %s::bytea[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[],
    %s::text[], %s::bigint[]
)
ON CONFLICT (id) DO UPDATE SET
    epoch = excluded.epoch,
    seq = excluded.seq,
    compacted = excluded.compacted,
    fence = excluded.fence,
    lease_owner = excluded.lease_owner,
    lease_until = excluded.lease_until;

-- :name put_thread
INSERT INTO recollect.thread (
    scope_id, number, id, created_at, last, count, formed, first_pending_at, due, not_before,
    attempts, state, waiting_tokens, again, lanes, settings
)
SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[],
    %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::text[],
    %s::text[], %s::text[]
)
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
INSERT INTO recollect.message (
    scope_id, thread, uid, id, position, role, name, text, content, time, session, source, metadata,
    kept_at, digest, seq, terms, text_hash
)
SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::text[], %s::text[],
    %s::text[], %s::text[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[],
    %s::bytea[], %s::bigint[], %s::bytea[], %s::bytea[]
)
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
    text_hash = excluded.text_hash;

-- :name put_memory
INSERT INTO recollect.memory (
    scope_id, uid, type, key, version, value, text, created_at, updated_at, valid_from, valid_until,
    expires_at, evidence, trust, state, cause, seq, terms, text_hash, said_at
)
SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::text[],
    %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[],
    %s::text[], %s::text[], %s::bigint[], %s::bytea[], %s::bytea[], %s::bigint[]
)
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
    said_at = excluded.said_at;

-- :name put_revision
INSERT INTO recollect.revision (
    scope_id, uid, version, value, text, valid_from, valid_until, evidence, trust, state, cause,
    believed_from, believed_until
)
SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::bigint[],
    %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[]
)
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
    believed_until = excluded.believed_until;

-- :name put_vector
INSERT INTO recollect.vector (
    scope_id, uid, embedder, text_hash, data
)
SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::text[], %s::bytea[], %s::bytea[]
)
ON CONFLICT (scope_id, uid, embedder) DO UPDATE SET
    text_hash = excluded.text_hash,
    data = excluded.data;

-- :name put_idempotency
INSERT INTO recollect.idempotency (
    scope_id, key, digest, result, kept_at
)
SELECT * FROM unnest(
    %s::bigint[], %s::text[], %s::bytea[], %s::text[], %s::bigint[]
)
ON CONFLICT (scope_id, key) DO UPDATE SET
    digest = excluded.digest,
    result = excluded.result,
    kept_at = excluded.kept_at;

-- :name put_formation
INSERT INTO recollect.formation (
    scope_id, id, fence, committed_at, status, calls, tokens, watermarks, failed, receipt
)
SELECT * FROM unnest(
    %s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::bigint[],
    %s::text[], %s::text[], %s::text[]
)
ON CONFLICT (scope_id, id) DO UPDATE SET
    status = excluded.status,
    watermarks = excluded.watermarks,
    failed = excluded.failed,
    receipt = excluded.receipt;

-- :name put_side_record
INSERT INTO recollect.side_record (
    scope_id, uid, thread, kind, key, version, value, created_at, updated_at, expires_at
)
SELECT * FROM unnest(
    %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[],
    %s::bigint[], %s::bigint[], %s::bigint[]
)
ON CONFLICT (scope_id, thread, kind, key) DO UPDATE SET
    uid = excluded.uid,
    version = excluded.version,
    value = excluded.value,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at,
    expires_at = excluded.expires_at;

-- :name drop_side_records
DELETE FROM recollect.side_record AS r
USING unnest(%s::text[], %s::text[], %s::text[]) AS gone (thread, kind, key)
WHERE r.scope_id = %s AND r.thread = gone.thread AND r.kind = gone.kind AND r.key = gone.key;

-- :name put_receipt
INSERT INTO recollect.receipt (
    id, target, messages, memories, revised, erased_at, clean_at
)
SELECT * FROM unnest(
    %s::text[], %s::bytea[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[]
)
ON CONFLICT (id) DO UPDATE SET
    target = excluded.target,
    messages = excluded.messages,
    memories = excluded.memories,
    revised = excluded.revised,
    erased_at = excluded.erased_at,
    clean_at = excluded.clean_at;

-- :name put_embedded
INSERT INTO recollect.embedded (
    scope_id, embedder, seq
)
SELECT * FROM unnest(
    %s::bigint[], %s::text[], %s::bigint[]
)
ON CONFLICT (scope_id, embedder) DO UPDATE SET
    seq = excluded.seq;

-- :name put_evidence
INSERT INTO recollect.evidence (
    scope_id, thread, message, uid
)
SELECT * FROM unnest(
    %s::bigint[], %s::text[], %s::text[], %s::bigint[]
)
ON CONFLICT (scope_id, thread, message, uid) DO NOTHING;

-- :name put_tombstones
INSERT INTO recollect.tombstone (scope_id, seq, uid)
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]);

-- :name raise_messages
UPDATE recollect.message AS m SET seq = raised.seq
FROM unnest(%s::bigint[], %s::bigint[]) AS raised (uid, seq)
WHERE m.scope_id = %s AND m.uid = raised.uid;

-- :name raise_memories
UPDATE recollect.memory AS m SET seq = raised.seq
FROM unnest(%s::bigint[], %s::bigint[]) AS raised (uid, seq)
WHERE m.scope_id = %s AND m.uid = raised.uid;

-- :name drop_messages
DELETE FROM recollect.message WHERE scope_id = %s AND uid = ANY (%s::bigint[]);

-- :name drop_memories
DELETE FROM recollect.memory WHERE scope_id = %s AND uid = ANY (%s::bigint[]);

-- :name drop_revisions
DELETE FROM recollect.revision WHERE scope_id = %s AND uid = ANY (%s::bigint[]);

-- :name drop_links
DELETE FROM recollect.evidence WHERE scope_id = %s AND uid = ANY (%s::bigint[]);

-- :name drop_vectors
DELETE FROM recollect.vector WHERE scope_id = %s AND uid = ANY (%s::bigint[]);

-- :name drop_versions
DELETE FROM recollect.revision AS r
USING unnest(%s::bigint[], %s::bigint[]) AS gone (uid, version)
WHERE r.scope_id = %s AND r.uid = gone.uid AND r.version = gone.version;

-- :name drop_evidence
DELETE FROM recollect.evidence AS e
USING unnest(%s::text[], %s::text[]) AS gone (thread, message)
WHERE e.scope_id = %s AND e.thread = gone.thread AND e.message = gone.message;

-- :name drop_threads
DELETE FROM recollect.thread WHERE scope_id = %s AND number = ANY (%s::bigint[]);

-- :name forget_old_keys
DELETE FROM recollect.idempotency AS k
USING unnest(%s::bigint[], %s::bigint[]) AS old (scope_id, before)
WHERE k.scope_id = old.scope_id AND k.kept_at < old.before;

-- :name compact
DELETE FROM recollect.tombstone WHERE scope_id = %s AND seq <= %s;

-- :name empty_message
DELETE FROM recollect.message WHERE scope_id = %s;

-- :name empty_memory
DELETE FROM recollect.memory WHERE scope_id = %s;

-- :name empty_revision
DELETE FROM recollect.revision WHERE scope_id = %s;

-- :name empty_evidence
DELETE FROM recollect.evidence WHERE scope_id = %s;

-- :name empty_vector
DELETE FROM recollect.vector WHERE scope_id = %s;

-- :name empty_embedded
DELETE FROM recollect.embedded WHERE scope_id = %s;

-- :name empty_tombstone
DELETE FROM recollect.tombstone WHERE scope_id = %s;

-- :name empty_idempotency
DELETE FROM recollect.idempotency WHERE scope_id = %s;

-- :name empty_formation
DELETE FROM recollect.formation WHERE scope_id = %s;

-- :name empty_side_record
DELETE FROM recollect.side_record WHERE scope_id = %s;

-- :name empty_thread
DELETE FROM recollect.thread WHERE scope_id = %s;

-- :name empty_scope
DELETE FROM recollect.scope WHERE id = %s;

-- :name put_audit
INSERT INTO recollect.audit (
    chain, n, at, actor, actor_key, action, subject, digest, previous, hash
)
SELECT * FROM unnest(
    %s::bytea[], %s::bigint[], %s::bigint[], %s::text[], %s::bytea[], %s::text[], %s::text[],
    %s::bytea[], %s::bytea[], %s::bytea[]
);

-- :name put_audit_head
INSERT INTO recollect.audit_head (chain, n, hash)
SELECT * FROM unnest(%s::bytea[], %s::bigint[], %s::bytea[])
ON CONFLICT (chain) DO UPDATE SET n = excluded.n, hash = excluded.hash;

-- :name unname_audit
UPDATE recollect.audit SET actor = NULL WHERE chain = %s;
