-- Stores a query and queues its first step, or does nothing.
-- KEYS: query, body, stream, logs
-- ARGV: expires_ms, longest stream, body, query id, traceparent, log cap, count of field arguments, fields.., logs..
if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
if redis.call('XLEN', KEYS[3]) >= tonumber(ARGV[2]) then return 'full' end
local last_field = 7 + tonumber(ARGV[7])
redis.call('HSET', KEYS[1], unpack(ARGV, 8, last_field))
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[3], 'PXAT', ARGV[1])
append_logs(KEYS[4], ARGV[1], ARGV[6], last_field + 1)
enqueue(KEYS[3], ARGV[4], '0', ARGV[5])
return 'accepted'
