-- Return the next number of the store. An erase needs one too, and must work on a full server, which
-- rejects a function only if its first write needs memory: so the first write is a removal.
-- KEYS: the counter, a key that never exists.
redis.call('DEL', KEYS[2])
return redis.call('INCR', KEYS[1])
