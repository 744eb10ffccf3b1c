-- Closes the lookup and queues the next step: when nothing is outstanding, or when forced by the deadline.
-- KEYS: query, stream, next stream, logs
-- ARGV: step, owner, now, force, entry, group, query id, next step, next operation, traceparent, failure, log cap, logs..
local stand = standing(KEYS[1], ARGV[1], ARGV[2])
if stand ~= 'ok' then
  if stand ~= 'lost' then settle(KEYS[2], ARGV[6], ARGV[5]) end
  return {stand, 0}
end
local held = redis.call('HMGET', KEYS[1], 'outstanding', 'expires_ms')
local outstanding = tonumber(held[1] or '0')
if outstanding > 0 and ARGV[4] ~= '1' then return {'open', outstanding} end
redis.call('HSET', KEYS[1], 'lookup_closed_ms', ARGV[3], 'step', ARGV[8], 'stage', ARGV[9], 'failure', ARGV[11])
redis.call('HDEL', KEYS[1], 'owner')
append_logs(KEYS[4], held[2], ARGV[12], 13)
enqueue(KEYS[3], ARGV[7], ARGV[8], ARGV[10], held[2])
settle(KEYS[2], ARGV[6], ARGV[5])
return {'closed', outstanding}
