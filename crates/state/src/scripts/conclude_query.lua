-- Records the one terminal outcome of a query whose response was delivered, or could not be.
-- KEYS: query, stream, logs, open queries
-- ARGV: step, owner, now, entry, group, query id, channel, outcome ('' keeps the response's own), problem, log cap, logs..
local stand = standing(KEYS[1], ARGV[1], ARGV[2])
if stand ~= 'ok' then
  if stand ~= 'lost' then settle(KEYS[2], ARGV[5], ARGV[4]) end
  return stand
end
local held = redis.call('HMGET', KEYS[1], 'outcome', 'expires_ms')
local outcome = ARGV[8]
if outcome == '' then outcome = held[1] or 'failed' end
redis.call('HSET', KEYS[1], 'state', outcome, 'finished_ms', ARGV[3], 'delivery_problem', ARGV[9])
redis.call('HDEL', KEYS[1], 'owner')
append_logs(KEYS[3], held[2], ARGV[10], 11)
redis.call('ZREM', KEYS[4], ARGV[6])
redis.call('PUBLISH', ARGV[7], ARGV[6])
settle(KEYS[2], ARGV[5], ARGV[4])
return 'ok'
