-- Stores the final response. A sync query ends here; an async one goes on to its delivery.
-- KEYS: query, response, staged response, stream, delivery stream, logs, open queries, then payload keys of the callbacks and the message between operations
-- ARGV: step, owner, now, entry, group, query id, channel, next step ('' ends the query), traceparent,
--       keep payloads for ms, outcome (completed, failed), TRAPI status, description, http status,
--       decoded bytes, log cap, count of chunk arguments, chunks.., logs..
local stand = standing(KEYS[1], ARGV[1], ARGV[2])
if stand ~= 'ok' then
  if stand ~= 'lost' then settle(KEYS[4], ARGV[5], ARGV[4]) end
  return stand
end
local expires_ms = redis.call('HGET', KEYS[1], 'expires_ms')
local chunks = tonumber(ARGV[17])
redis.call('DEL', KEYS[2])
if chunks > 0 then
  for i = 18, 17 + chunks do redis.call('RPUSH', KEYS[2], ARGV[i]) end
elseif redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('RENAME', KEYS[3], KEYS[2])
else
  return 'unstaged'
end
redis.call('PEXPIREAT', KEYS[2], expires_ms)
redis.call('HSET', KEYS[1], 'outcome', ARGV[11], 'status', ARGV[12], 'description', ARGV[13],
  'http_status', ARGV[14], 'response_bytes', ARGV[15])
redis.call('HDEL', KEYS[1], 'owner')
append_logs(KEYS[6], expires_ms, ARGV[16], 18 + chunks)
for i = 8, #KEYS do
  if ARGV[10] == '0' then redis.call('UNLINK', KEYS[i]) else redis.call('PEXPIRE', KEYS[i], ARGV[10]) end
end
-- whoever delivers keeps the deadline: hundreds of clients that are away must not hide a query that needs a watchdog
redis.call('ZREM', KEYS[7], ARGV[6])
if ARGV[8] == '' then
  redis.call('HSET', KEYS[1], 'state', ARGV[11], 'finished_ms', ARGV[3])
  redis.call('PUBLISH', ARGV[7], ARGV[6])
else
  redis.call('HSET', KEYS[1], 'step', ARGV[8], 'stage', 'finish_query')
  enqueue(KEYS[5], ARGV[6], ARGV[8], ARGV[9], expires_ms)
end
settle(KEYS[4], ARGV[5], ARGV[4])
return 'ok'
