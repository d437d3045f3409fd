-- Return threads with pending messages, by path and id, with the rows of their scopes.
-- KEYS: their index, the names of scopes. ARGV: the bounds of the range, the limit, the prefix of keys.
local found = {}
for _, member in ipairs(
  redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
) do
  -- The path ends with a zero byte, and another one separates it from the thread's id.
  local split = string.find(member, '\0\0', 1, true)
  local id = redis.call('HGET', KEYS[2], string.sub(member, 1, split))
  local prefix = ARGV[4] .. (id or '')
  table.insert(found, {
    id, redis.call('GET', prefix .. ':v') or '', redis.call('GET', prefix .. ':row'),
    redis.call('HGET', prefix .. ':threads', string.sub(member, split + 2)),
  })
end
return found
