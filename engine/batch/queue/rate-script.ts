import { caution, leastFactor, longestWaitMs, mostFactor, usualWaitMs } from '../run/rate-limiter.ts'

/** How long a process with a waiting request may be silent before other requests are admitted first, in milliseconds. */
const ticketMs = 10_000

/**
 * The limits of one provider, key and model, kept in Redis for all workers. One script performs all operations, so that each of them is atomic. It uses
 * Redis's clock, so that differences between the workers' clocks don't matter.
 *
 * KEYS: the known limits of the account, with its counters; when each request was sent; the tokens that each request used; the waiting requests, in
 * order; when each of them last asked; the number of refusals in the batch.
 * ARGV: the operation; the id of the request; the window in milliseconds; then the arguments of the operation, listed here with what it returns:
 * `enter` (asks to send the request): tokens, request limit, token limit (empty: the provider's) → milliseconds to wait; 0 if it may be sent
 * `arrived` (the answer has begun): the maximum number of milliseconds that the request can have taken to arrive → nothing
 * `left` (the request has ended): tokens used, estimated tokens (0: unknown), whether it was refused (`limit` or empty), milliseconds to wait (empty:
 * not specified) → nothing
 * `drop` (the request is no longer waiting) → nothing
 * `heard` (the provider has reported limits): request limit, token limit (empty: not reported) → nothing
 */
export const rateScript = `
local known, sent, used, waiting, seen, refused = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local what, id, window = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function number(name, absent) return tonumber(redis.call('HGET', known, name) or absent) end
local function keep()
  for _, key in ipairs({known, sent, used, waiting, seen}) do redis.call('PEXPIRE', key, window * 10) end
end
local function drop(ticket)
  redis.call('ZREM', waiting, ticket)
  redis.call('ZREM', seen, ticket)
end
if what == 'heard' then
  if ARGV[4] ~= '' then redis.call('HSET', known, 'requests', ARGV[4]) end
  if ARGV[5] ~= '' then redis.call('HSET', known, 'tokens', ARGV[5]) end
elseif what == 'drop' then
  drop(id)
elseif what == 'arrived' then
  local at = redis.call('ZSCORE', sent, id)
  if at then redis.call('ZADD', sent, math.min(now, at + ARGV[4]), id) end
elseif what == 'left' then
  local before = redis.call('HGET', used, id)
  if before then
    redis.call('HSET', used, id, ARGV[4])
    redis.call('HINCRBY', known, 'used', ARGV[4] - before)
  end
  if ARGV[6] == 'limit' then
    local held = number('held', 0)
    local refusals = number('refusals', 0)
    if held <= now then
      refusals = refusals + 1
      redis.call('HSET', known, 'refusals', refusals)
      redis.call('INCR', refused)
      redis.call('PEXPIRE', refused, window * 10)
    end
    local wait = tonumber(ARGV[7]) or math.min(${longestWaitMs}, ${usualWaitMs} * 2 ^ math.max(0, refusals - 1))
    redis.call('HSET', known, 'held', math.max(held, math.ceil(now + wait)))
  elseif tonumber(ARGV[5]) > 0 then
    redis.call('HSET', known, 'refusals', 0)
    local factor = number('factor', ${caution})
    local seenNow = ${caution} * ARGV[4] / ARGV[5]
    local next = factor + (seenNow > factor and 0.5 or 0.1) * (seenNow - factor)
    redis.call('HSET', known, 'factor', tostring(math.min(${mostFactor}, math.max(${leastFactor}, next))))
  end
else
  for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now - ${ticketMs})) do drop(ticket) end
  if not redis.call('ZSCORE', waiting, id) then
    redis.call('ZADD', waiting, redis.call('HINCRBY', known, 'last', 1), id)
  end
  redis.call('ZADD', seen, now, id)
  keep()
  if redis.call('ZRANGE', waiting, 0, 0)[1] ~= id then return 250 end
  local held = number('held', 0)
  if held > now then return held - now end
  for _, old in ipairs(redis.call('ZRANGEBYSCORE', sent, '-inf', now - window)) do
    -- Subtracted from 0, not negated with '-': Redis doesn't accept -0 as an integer.
    redis.call('HINCRBY', known, 'used', 0 - (redis.call('HGET', used, old) or 0))
    redis.call('HDEL', used, old)
    redis.call('ZREM', sent, old)
  end
  local need = math.ceil(ARGV[4] * number('factor', ${caution}))
  local requests, tokens = redis.call('ZCARD', sent), number('used', 0)
  local mostRequests = tonumber(ARGV[5]) or number('requests', math.huge)
  local mostTokens = tonumber(ARGV[6]) or number('tokens', math.huge)
  local function fits() return requests + 1 <= mostRequests and (tokens + need <= mostTokens or tokens < 1) end
  if fits() then
    redis.call('ZADD', sent, now, id)
    redis.call('HSET', used, id, need)
    redis.call('HINCRBY', known, 'used', need)
    drop(id)
    keep()
    return 0
  end
  for from = 0, redis.call('ZCARD', sent), 50 do
    local some = redis.call('ZRANGE', sent, from, from + 49, 'WITHSCORES')
    for at = 1, #some, 2 do
      requests = requests - 1
      tokens = tokens - (redis.call('HGET', used, some[at]) or 0)
      if fits() then return math.max(1, some[at + 1] + window - now) end
    end
  end
  return window
end
keep()
return 0
`
