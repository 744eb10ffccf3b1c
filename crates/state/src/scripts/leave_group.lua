-- Removes a consumer for good. What it still holds was handed to a read that nobody awaited, or to work that was broken
-- off: it is queued again, so that another worker takes it at once.
-- KEYS: stream
-- ARGV: group, consumer
local queued = 0
repeat
  local held = redis.pcall('XPENDING', KEYS[1], ARGV[1], '-', '+', 100, ARGV[2])
  -- the stream or its group has expired, and every consumer with it
  if held.err and string.find(held.err, 'NOGROUP') then return queued end
  if held.err then return held end
  for _, pending in ipairs(held) do
    local entry = redis.call('XRANGE', KEYS[1], pending[1], pending[1])[1]
    if entry then
      redis.call('XADD', KEYS[1], '*', unpack(entry[2]))
      queued = queued + 1
    end
    settle(KEYS[1], ARGV[1], pending[1])
  end
until #held == 0
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return queued
