-- Shared by every script, put in front of it when it is loaded.

-- Takes a finished entry off its stream. Streams are never trimmed: what is done is deleted.
local function settle(stream, group, entry)
  if entry ~= '' then
    redis.call('XACK', stream, group, entry)
    redis.call('XDEL', stream, entry)
  end
end

-- Puts off the expiry of a key that many queries share until `expires_ms` at least.
local function keep_at_least(key, expires_ms)
  local left = redis.call('PEXPIRETIME', key)
  if left < tonumber(expires_ms) then redis.call('PEXPIREAT', key, expires_ms) end
end

-- Puts the next step of a query on its stream, which lives as long as the query at least.
local function enqueue(stream, query, step, traceparent, expires_ms)
  redis.call('XADD', stream, '*', 'query', query, 'step', step, 'traceparent', traceparent)
  keep_at_least(stream, expires_ms)
end

-- Appends ARGV[first..] to the log list and keeps the newest `cap` of them.
local function append_logs(key, expires_ms, cap, first)
  if #ARGV < first then return end
  redis.call('RPUSH', key, unpack(ARGV, first))
  redis.call('LTRIM', key, -tonumber(cap), -1)
  redis.call('PEXPIREAT', key, expires_ms)
end

-- Counts a sub-query whose callback came after the close; the same one twice counts once.
local function count_late(query, callback)
  if redis.call('HSETNX', callback, 'late', '1') == 1 then redis.call('HINCRBY', query, 'late', 1) end
end

local function is_over(state)
  return state == 'completed' or state == 'failed' or state == 'cancelled'
end

-- Whether `owner` may change the query at `step`: 'ok', or why not.
-- 'missing': expired; 'over': it has ended; 'past': the step was already done; 'lost': another worker has it.
local function standing(query, step, owner)
  local held = redis.call('HMGET', query, 'state', 'step', 'owner')
  if not held[1] then return 'missing' end
  if is_over(held[1]) then return 'over' end
  if held[2] ~= step then return 'past' end
  if held[3] ~= owner then return 'lost' end
  return 'ok'
end
