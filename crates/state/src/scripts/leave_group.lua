-- Removes a consumer that holds nothing; one that still holds entries stays, so that they can be claimed.
-- KEYS: stream
-- ARGV: group, consumer
local held = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])
if #held > 0 then return 'holding' end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 'ok'
