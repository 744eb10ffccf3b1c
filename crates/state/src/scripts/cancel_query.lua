-- Ends a query that nobody waits for any more, and wakes whoever works on it.
-- KEYS: query, body, response, open queries
-- ARGV: now, channel, query id, reason
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 'missing' end
if is_over(state) then return 'over' end
redis.call('HSET', KEYS[1], 'state', 'cancelled', 'description', ARGV[4], 'finished_ms', ARGV[1])
redis.call('HSETNX', KEYS[1], 'lookup_closed_ms', ARGV[1])
redis.call('UNLINK', KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], ARGV[3])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 'ok'
