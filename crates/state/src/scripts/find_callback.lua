-- Whose callback id this is and whether it is still awaited; one that came too late is counted.
-- The query's key lies in the same slot as the callback's; its name is known only from the callback's record.
-- KEYS: callback
-- ARGV: prefix of the query's key
local held = redis.call('HMGET', KEYS[1], 'query', 'index', 'status')
if not held[1] then return {'unknown'} end
local key = ARGV[1] .. held[1]
local query = redis.call('HMGET', key, 'lookup_closed_ms', 'traceparent', 'retriever_stop_ms')
local came = held[3] == 'returned' or held[3] == 'failed' or held[3] == 'removed'
if query[1] and not came then count_late(key, KEYS[1]) end
return {'found', held[1], held[2], held[3], query[1] or '', query[2] or '', query[3] or ''}
