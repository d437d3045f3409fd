-- Commit: if all versions that a plan read are unchanged, carry out all its writes, else none.
-- KEYS: the tokens of recent commits, the names of scopes, the store's hash; from 4 on, the keys
-- that the arguments refer to by number.
-- ARGV: the store's identity; the commit's token, empty if it writes nothing; the caller's hold;
-- names with the expected ids; version keys with the expected versions; the version keys to change;
-- commands, each with its key and its arguments. Each list begins with its length.
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local function take_key()
  return KEYS[tonumber(take())]
end

local identity, token, hold = take(), take(), take()
-- After FLUSHALL, or in the database of another store, the ids of scopes mean others.
if redis.call('HGET', KEYS[3], 'identity') ~= identity then
  return 'gone'
end
-- Before the versions are compared: if this commit was sent before, it has changed them itself.
if token ~= '' and redis.call('ZSCORE', KEYS[1], token) then
  return 'done'
end
for _ = 1, tonumber(take()) do
  local path, id = take(), take()
  if (redis.call('HGET', KEYS[2], path) or '') ~= id then
    return 'moved'
  end
end
for _ = 1, tonumber(take()) do
  local key, seen = take_key(), take()
  if (redis.call('GET', key) or '') ~= seen then
    return 'moved'
  end
end
local written = {}
for _ = 1, tonumber(take()) do
  local key = take_key()
  -- A hold only makes other writers wait, so that a slow one gets its turn: if it is lost or has
  -- expired, the versions still keep the writes apart.
  local held = redis.call('GET', key .. ':hold')
  if held and held ~= hold then
    return 'held'
  end
  table.insert(written, key)
end
for _ = 1, tonumber(take()) do
  local name, key, number = take(), take_key(), tonumber(take())
  redis.call(name, key, unpack(ARGV, at + 1, at + number))
  at = at + number
end
for _, key in ipairs(written) do
  -- The token is random: a counter could return to a value that somebody has read, after a
  -- restart that lost writes or from a restored backup.
  redis.call('SET', key, token)
end
if token ~= '' then
  -- Remember the token for ten minutes: a commit whose answer was lost is sent again.
  local now_s = tonumber(redis.call('TIME')[1])
  redis.call('ZADD', KEYS[1], now_s, token)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_s - 600)
end
return 'done'
