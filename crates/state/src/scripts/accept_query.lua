-- Stores a query and queues its first step, or does nothing.
-- KEYS: query, body, stream, logs, open queries
-- ARGV: expires_ms, longest stream, body, query id, traceparent, log cap, deadline ms ('' for none),
--       most open queries, count of field arguments, fields.., logs..
if redis.call('EXISTS', KEYS[1]) == 1 then return 'exists' end
if redis.call('XLEN', KEYS[3]) >= tonumber(ARGV[2]) then return 'full' end
if redis.call('ZCARD', KEYS[5]) >= tonumber(ARGV[8]) then return 'full' end
local last_field = 9 + tonumber(ARGV[9])
redis.call('HSET', KEYS[1], unpack(ARGV, 10, last_field))
redis.call('PEXPIREAT', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[3], 'PXAT', ARGV[1])
append_logs(KEYS[4], ARGV[1], ARGV[6], last_field + 1)
if ARGV[7] ~= '' then
  redis.call('ZADD', KEYS[5], ARGV[7], ARGV[4])
  keep_at_least(KEYS[5], ARGV[1])
end
enqueue(KEYS[3], ARGV[4], '0', ARGV[5], ARGV[1])
return 'accepted'
