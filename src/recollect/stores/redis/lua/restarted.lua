-- Record the server's run id. After a restart, which may have lost the last writes, raise the
-- generation, the least epoch of all scopes, to a number that was never used: readers start over.
-- KEYS: the store's hash, the counter of numbers. ARGV: the server's run id.
local known = redis.call('HGET', KEYS[1], 'run')
if known ~= ARGV[1] then
  if known then
    local time = redis.call('TIME')
    -- The counter may have been lost too: the clock is beyond all numbers that it gave out.
    local now, number = time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[2]) or '0')
    number = math.max(now, number + 1)
    redis.call('SET', KEYS[2], string.format('%.0f', number))
    redis.call('HSET', KEYS[1], 'generation', string.format('%.0f', number))
  end
  redis.call('HSET', KEYS[1], 'run', ARGV[1])
end
return redis.call('HGET', KEYS[1], 'generation') or '0'
