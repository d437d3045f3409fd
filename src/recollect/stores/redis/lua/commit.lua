-- One commit: every row that a plan read must be as it was, then all its writes, or none.
-- KEYS: the tokens of the last commits, the names of scopes, the store's own hash, then what the
-- arguments count from 4.
-- ARGV: the store's identity; the commit's token, empty if it writes nothing; the hold of the caller; names with the ids
-- expected; versions with what was seen; the versions that it changes; commands, each with its
-- key and its arguments.
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local function take_key()
  return KEYS[tonumber(take())]
end

local identity, token, hold = take(), take(), take()
if redis.call('HGET', KEYS[3], 'identity') ~= identity then
  return 'gone'
end
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
  redis.call('SET', key, token)
end
if token ~= '' then
  -- By its token a commit whose answer was lost is known again, for ten minutes.
  local now_s = tonumber(redis.call('TIME')[1])
  redis.call('ZADD', KEYS[1], now_s, token)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_s - 600)
end
return 'done'
