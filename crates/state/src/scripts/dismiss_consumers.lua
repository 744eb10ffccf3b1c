-- Removes the consumers that hold nothing and have not been heard of for a while, and returns how many there were: a
-- process that was killed cannot leave by itself. One that holds entries stays, so that they can be claimed; one that is
-- alive after all comes back with its next entry.
-- KEYS: stream
-- ARGV: group, silent for so many ms
local consumers = redis.pcall('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])
-- the stream or its group has expired, and every consumer with it
if consumers.err then return 0 end
local dismissed = 0
for _, fields in ipairs(consumers) do
  local consumer = {}
  for i = 1, #fields, 2 do consumer[fields[i]] = fields[i + 1] end
  if consumer.pending == 0 and consumer.idle >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
    dismissed = dismissed + 1
  end
end
return dismissed
