-- Queues a given-up step once more, with the time the query had at its intake, and takes its note off.
-- KEYS: query, dead letters, stream, callbacks, open queries
-- ARGV: note, query id, operation, step, now
if redis.call('XLEN', KEYS[2]) == 0 or #redis.call('XRANGE', KEYS[2], ARGV[1], ARGV[1]) == 0 then return 'unknown' end
local held = redis.call('HMGET', KEYS[1], 'state', 'intake_ms', 'deadline_ms', 'expires_ms', 'traceparent')
-- a cancelled query has nothing left to work on
if not held[1] or held[1] == 'cancelled' then return 'missing' end
if not is_over(held[1]) then return 'open' end
redis.call('HSET', KEYS[1], 'state', 'queued', 'step', ARGV[4], 'stage', ARGV[3], 'intake_ms', ARGV[5],
  'failure', '', 'delivery_problem', '')
redis.call('HDEL', KEYS[1], 'owner', 'finished_ms', 'rescued_ms', 'buried_step')
if held[3] and held[3] ~= '' then
  local deadline_ms = tonumber(ARGV[5]) + tonumber(held[3]) - tonumber(held[2])
  redis.call('HSET', KEYS[1], 'deadline_ms', string.format('%d', deadline_ms))
  redis.call('ZADD', KEYS[5], deadline_ms, ARGV[2])
  keep_at_least(KEYS[5], held[4])
end
if ARGV[4] == '0' then
  -- the lookup begins anew, with callback ids of its own
  redis.call('HDEL', KEYS[1], 'lookup_deadline_ms', 'lookup_closed_ms', 'sub_queries', 'outstanding', 'accepted',
    'returned', 'failed', 'removed', 'late')
  redis.call('UNLINK', KEYS[4])
end
enqueue(KEYS[3], ARGV[2], ARGV[4], held[5] or '', held[4])
redis.call('XDEL', KEYS[2], ARGV[1])
return 'ok'
