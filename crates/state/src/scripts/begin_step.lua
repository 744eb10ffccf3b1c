-- Makes `owner` the one worker that may change the query at this step.
-- KEYS: query, body
-- ARGV: step, owner, now
local held = redis.call('HMGET', KEYS[1], 'state', 'step')
if not held[1] then return {'missing'} end
if is_over(held[1]) then return {'over'} end
if held[2] ~= ARGV[1] then return {'past'} end
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'state', 'running')
redis.call('HSETNX', KEYS[1], 'started_ms', ARGV[3])
return {'begun', redis.call('HGETALL', KEYS[1]), redis.call('GET', KEYS[2])}
