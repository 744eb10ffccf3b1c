-- Takes an entry off its stream whose query needs nothing more.
-- KEYS: stream
-- ARGV: group, entry
settle(KEYS[1], ARGV[1], ARGV[2])
return 'ok'
