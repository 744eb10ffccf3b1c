-- Stores a callback's payload, or marks its sub-query failed, and tells the waiting worker when it was the last.
-- A usable one may follow an unusable one, as long as the lookup is open: it is kept like any other.
-- KEYS: query, callback, payload, staged payload
-- ARGV: now, channel, query id, outcome (returned, failed), reason, encoding, decoded bytes;
--       payload chunks follow, none when they were staged
local held = redis.call('HMGET', KEYS[1], 'state', 'lookup_closed_ms', 'expires_ms')
local status = redis.call('HGET', KEYS[2], 'status')
if not status or not held[1] then return {'unknown'} end
local failed = status == 'failed'
if status == 'returned' or (failed and ARGV[4] == 'failed') then return {'repeated'} end
if status == 'removed' then return {'removed'} end
if held[2] then
  if not failed then count_late(KEYS[1], KEYS[2]) end
  return {'closed', held[2]}
end
if ARGV[4] == 'returned' then
  if #ARGV > 7 then
    for i = 8, #ARGV do redis.call('RPUSH', KEYS[3], ARGV[i]) end
  elseif redis.call('EXISTS', KEYS[4]) == 1 then
    redis.call('RENAME', KEYS[4], KEYS[3])
  else
    return {'unstaged'}
  end
  redis.call('PEXPIREAT', KEYS[3], held[3])
end
redis.call('HSET', KEYS[2], 'status', ARGV[4], 'returned_ms', ARGV[1], 'reason', ARGV[5],
  'encoding', ARGV[6], 'bytes', ARGV[7])
redis.call('HINCRBY', KEYS[1], ARGV[4], 1)
if failed then
  -- nobody has waited for it any more
  redis.call('HINCRBY', KEYS[1], 'failed', -1)
  return {'kept', tonumber(redis.call('HGET', KEYS[1], 'outstanding'))}
end
local outstanding = redis.call('HINCRBY', KEYS[1], 'outstanding', -1)
if outstanding == 0 then redis.call('PUBLISH', ARGV[2], ARGV[3]) end
return {'kept', outstanding}
