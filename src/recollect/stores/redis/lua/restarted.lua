-- Note which run of the server this is. Readers of an earlier one, which may have lost its last
-- writes, are to start over: their epoch is raised to a number that nobody ever had.
-- KEYS: the store's own hash, the counter of numbers. ARGV: the server's run.
local known = redis.call('HGET', KEYS[1], 'run')
if known ~= ARGV[1] then
  if known then
    local time = redis.call('TIME')
    local now, number = time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[2]) or '0')
    number = math.max(now, number + 1)
    redis.call('SET', KEYS[2], string.format('%.0f', number))
    redis.call('HSET', KEYS[1], 'generation', string.format('%.0f', number))
  end
  redis.call('HSET', KEYS[1], 'run', ARGV[1])
end
return redis.call('HGET', KEYS[1], 'generation') or '0'
