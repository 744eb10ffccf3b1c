-- Makes `owner` the one that answers an open query whose workers are late; of several, the first.
-- A query that is being delivered is left to those that deliver.
-- KEYS: query, open queries
-- ARGV: owner, now, how long a rescuer may take in ms, query id
local held = redis.call('HMGET', KEYS[1], 'state', 'step', 'stage', 'rescued_ms', 'traceparent')
if not held[1] or is_over(held[1]) then
  redis.call('ZREM', KEYS[2], ARGV[4])
  return {'over'}
end
if held[3] == 'finish_query' then
  redis.call('ZREM', KEYS[2], ARGV[4])
  return {'delivering'}
end
if held[4] and tonumber(ARGV[2]) < tonumber(held[4]) + tonumber(ARGV[3]) then return {'taken'} end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'rescued_ms', ARGV[2], 'state', 'running')
return {'rescued', held[2], held[3], held[5] or ''}
