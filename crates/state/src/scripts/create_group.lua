-- Creates the consumer group of a stream, and the stream where it is not there yet: it goes by itself when nobody uses
-- it, and comes back with the next reader. The group begins at 0, so that entries added before the first worker came are
-- handed out too.
-- KEYS: stream
-- ARGV: group, how long the stream is kept at least in ms
local created = redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
if created.err and not string.find(created.err, 'BUSYGROUP') then return created end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 'ok'
