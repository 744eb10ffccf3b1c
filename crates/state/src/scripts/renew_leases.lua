-- Renews the leases that this consumer still holds and returns the entries that it has lost.
-- KEYS: stream
-- ARGV: group, consumer, entries..
local lost = {}
for i = 3, #ARGV do
  -- an error says that the stream or its group is gone, as after a failover that lost them
  local held = redis.pcall('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])
  if held.err or #held == 0 then
    lost[#lost + 1] = ARGV[i]
  else
    redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[i], 'JUSTID')
  end
end
return lost
