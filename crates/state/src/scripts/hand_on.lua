-- Stores the message as it is between two operations, and queues the next of them.
-- KEYS: query, message, staged message, stream, next stream, logs, then payload keys of the callbacks
-- ARGV: step, owner, entry, group, query id, next step, next operation, traceparent, keep payloads for ms,
--       decoded bytes, what goes with the message, log cap, count of chunk arguments, chunks.., logs..
local stand = standing(KEYS[1], ARGV[1], ARGV[2])
if stand ~= 'ok' then
  if stand ~= 'lost' then settle(KEYS[4], ARGV[4], ARGV[3]) end
  return stand
end
local expires_ms = redis.call('HGET', KEYS[1], 'expires_ms')
local chunks = tonumber(ARGV[13])
if chunks == 0 and redis.call('EXISTS', KEYS[3]) == 0 then return 'unstaged' end
redis.call('DEL', KEYS[2])
if chunks > 0 then
  for i = 14, 13 + chunks do redis.call('RPUSH', KEYS[2], ARGV[i]) end
else
  redis.call('RENAME', KEYS[3], KEYS[2])
end
redis.call('PEXPIREAT', KEYS[2], expires_ms)
redis.call('HSET', KEYS[1], 'step', ARGV[6], 'stage', ARGV[7], 'message_bytes', ARGV[10], 'message_note', ARGV[11])
redis.call('HDEL', KEYS[1], 'owner')
append_logs(KEYS[6], expires_ms, ARGV[12], 14 + chunks)
for i = 7, #KEYS do
  if ARGV[9] == '0' then redis.call('UNLINK', KEYS[i]) else redis.call('PEXPIRE', KEYS[i], ARGV[9]) end
end
enqueue(KEYS[5], ARGV[5], ARGV[6], ARGV[8], expires_ms)
settle(KEYS[4], ARGV[4], ARGV[3])
return 'ok'
