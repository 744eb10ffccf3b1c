-- Stores the lookup deadline and every callback id before anything is sent.
-- A second run returns what the first one stored.
-- KEYS: query, callbacks, then one per callback id
-- ARGV: step, owner, lookup deadline ms, by when Retriever is told to stop ms, query id, then id, label and query graph of each callback
local stand = standing(KEYS[1], ARGV[1], ARGV[2])
if stand ~= 'ok' then return {stand} end
local stored = redis.call('HGET', KEYS[1], 'lookup_deadline_ms')
if stored then return {'resumed', stored, redis.call('LRANGE', KEYS[2], 0, -1)} end
local expires_ms = redis.call('HGET', KEYS[1], 'expires_ms')
local count = #KEYS - 2
for i = 1, count do
  local key = KEYS[2 + i]
  local id, label, graph = unpack(ARGV, 3 + 3 * i, 5 + 3 * i)
  redis.call('HSET', key, 'query', ARGV[5], 'index', i - 1, 'status', 'registered', 'label', label, 'graph', graph)
  redis.call('PEXPIREAT', key, expires_ms)
  redis.call('RPUSH', KEYS[2], id)
end
if count > 0 then redis.call('PEXPIREAT', KEYS[2], expires_ms) end
redis.call('HSET', KEYS[1], 'lookup_deadline_ms', ARGV[3], 'retriever_stop_ms', ARGV[4], 'sub_queries', count, 'outstanding', count)
return {'registered', ARGV[3]}
