-- Removes a consumer that holds nothing; one that still holds entries stays, so that they can be claimed.
-- KEYS: stream
-- ARGV: group, consumer
local held = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])
-- no stream, or no group on it
if held.err then return 'ok' end
if #held > 0 then return 'holding' end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 'ok'
