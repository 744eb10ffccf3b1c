-- Notes a step that was given up.
-- KEYS: dead letters
-- ARGV: expires_ms, longest list, query id, operation, step, deliveries, reason, now
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'query', ARGV[3], 'operation', ARGV[4], 'step', ARGV[5],
  'deliveries', ARGV[6], 'reason', ARGV[7], 'buried_ms', ARGV[8])
keep_at_least(KEYS[1], ARGV[1])
return 'ok'
