-- What became of one submission; returns how many callbacks are still outstanding.
-- KEYS: query, callback
-- ARGV: step, owner, outcome (accepted, in_flight, removed), job id, now, reason
local stand = standing(KEYS[1], ARGV[1], ARGV[2])
if stand ~= 'ok' then return {stand, 0} end
local status = redis.call('HGET', KEYS[2], 'status')
local outcome = ARGV[3]
local undecided = status == 'registered' or status == 'in_flight'
if outcome == 'accepted' then
  if redis.call('HSETNX', KEYS[2], 'ack_ms', ARGV[5]) == 1 then redis.call('HINCRBY', KEYS[1], 'accepted', 1) end
  redis.call('HSET', KEYS[2], 'job_id', ARGV[4])
  if undecided then redis.call('HSET', KEYS[2], 'status', 'accepted') end
elseif outcome == 'in_flight' then
  if status == 'registered' then redis.call('HSET', KEYS[2], 'status', 'in_flight') end
elseif undecided then
  redis.call('HSET', KEYS[2], 'status', 'removed', 'reason', ARGV[6])
  redis.call('HINCRBY', KEYS[1], 'removed', 1)
  redis.call('HINCRBY', KEYS[1], 'outstanding', -1)
end
return {'ok', tonumber(redis.call('HGET', KEYS[1], 'outstanding'))}
