-- The next number of the store. An erase needs one too, and has to be possible on a full server:
-- that refuses what takes room only if it is the first write of a function.
-- KEYS: the counter, a key that there never is.
redis.call('DEL', KEYS[2])
return redis.call('INCR', KEYS[1])
