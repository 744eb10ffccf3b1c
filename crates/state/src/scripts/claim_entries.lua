-- Takes over entries that nobody has renewed for a lease, wherever they stand among those that are held: each as its id,
-- how often it has been handed out, and its fields.
-- KEYS: stream
-- ARGV: group, consumer, lease in ms, count
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[1], 'IDLE', ARGV[3], '-', '+', ARGV[4])
-- the stream or its group has expired, and every entry with it
if pending.err then
  if string.find(pending.err, 'NOGROUP') then return {} end
  return pending
end
local taken = {}
for _, held in ipairs(pending) do
  -- an entry that is gone from its stream leaves the list of the pending here
  local entry = redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], ARGV[3], held[1])[1]
  if entry then taken[#taken + 1] = {entry[1], held[4] + 1, entry[2]} end
end
return taken
