-- Makes a stream and its consumer group where there are none. The group begins at 0, so that entries added
-- before the first worker came are handed out too.
-- KEYS: stream
-- ARGV: group, how long a stream is kept that nobody uses, in ms
local made = redis.pcall('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
if made.err then
  if string.find(made.err, 'BUSYGROUP', 1, true) then return 'exists' end
  return made
end
-- one that nobody uses goes by itself, and comes back with the next reader
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 'made'
