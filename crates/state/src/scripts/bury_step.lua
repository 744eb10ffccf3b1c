-- Notes a step that was given up, once until it is queued again.
-- KEYS: dead letters, query
-- ARGV: expires_ms, longest list, query id, operation, step, deliveries, reason, now
if redis.call('HGET', KEYS[2], 'buried_step') == ARGV[5] then return 'noted' end
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'query', ARGV[3], 'operation', ARGV[4], 'step', ARGV[5],
  'deliveries', ARGV[6], 'reason', ARGV[7], 'buried_ms', ARGV[8])
keep_at_least(KEYS[1], ARGV[1])
-- a query that is gone does not come back for the sake of its note
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], 'buried_step', ARGV[5]) end
return 'ok'
