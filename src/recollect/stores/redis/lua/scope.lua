-- Return the id, the version and the row of the scope with a path; nothing if there is none.
-- KEYS: the names of scopes. ARGV: the path, the prefix of keys.
local id = redis.call('HGET', KEYS[1], ARGV[1])
if not id then
  return {}
end
local prefix = ARGV[2] .. id
return {id, redis.call('GET', prefix .. ':v') or '', redis.call('GET', prefix .. ':row') or ''}
