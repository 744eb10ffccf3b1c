-- Gives an entry back so that another worker takes it at once, as if it had just been queued.
-- KEYS: query, stream
-- ARGV: step, owner, entry, group, query id, traceparent
local stand = standing(KEYS[1], ARGV[1], ARGV[2])
if stand == 'lost' then return stand end
if stand == 'ok' then
  redis.call('HDEL', KEYS[1], 'owner')
  local expires_ms = redis.call('HGET', KEYS[1], 'expires_ms')
  enqueue(KEYS[2], ARGV[5], ARGV[1], ARGV[6], expires_ms)
end
settle(KEYS[2], ARGV[4], ARGV[3])
return stand
