-- Whose callback id this is and whether it is still awaited.
-- The query's key lies in the same slot as the callback's; its name is known only from the callback's record.
-- KEYS: callback
-- ARGV: prefix of the query's key
local held = redis.call('HMGET', KEYS[1], 'query', 'index', 'status')
if not held[1] then return {'unknown'} end
local query = redis.call('HMGET', ARGV[1] .. held[1], 'lookup_closed_ms', 'traceparent')
return {'found', held[1], held[2], held[3], query[1] or '', query[2] or ''}
