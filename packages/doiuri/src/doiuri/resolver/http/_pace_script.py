"""The Lua script of a shared pace; Redis runs it as one step."""

from __future__ import annotations

from doiuri.resolver.http._limiter import MAX_FAILURES, MAX_PAUSE, MAX_RETRY_AFTER

MEMORY = 60.0
"""Seconds for which a process that sent no request is counted."""

# Times are microseconds on the server's clock, so those of the machines do not matter.
# KEYS, all with the same hash tag:
#   a hash (tat: when the next request may be sent; held, paused, reason, failures, next; seen: the latest
#   time; limit: the lowest concurrency that was asked for lately, until the time `limited`),
#   leases by their end, processes by their latest request,
#   waiting requests by when they began to wait, and the same by when they must have asked again.
# ARGV: an operation and its arguments.
SCRIPT = """
local state, leases, processes, queue, silent = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function number(name, most)
  local value = tonumber(redis.call('HGET', state, name) or nil) or 0
  return value > 0 and math.min(value, most) or 0  -- others may have written anything, NaN included
end

local function set(name, value)
  redis.call('HSET', state, name, value)
end

local function date(name, most)  -- no later than so long after now, whoever wrote it and by which clock
  local value = number(name, math.huge)
  if value > now + most then
    value = now + most
    set(name, value)
  end
  return value
end

local function all_leases(work)
  local list = redis.call('ZRANGE', leases, 0, -1, 'WITHSCORES')
  for i = 1, #list, 2 do redis.call('ZADD', leases, work(tonumber(list[i + 1])), list[i]) end
end

local function check_clock()
  -- The first write of each operation must need no memory: then a full server accepts the others, too
  redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
  local back = number('seen', 9e15) - now
  if back > 1000000 then  -- the clock was set back, or another server took over: what is left stays as long
    for _, name in ipairs({'tat', 'held', 'paused', 'limited'}) do
      set(name, number(name, math.huge) - back)
    end
    all_leases(function(last) return last - back end)
    redis.call('DEL', processes, queue, silent)
  elseif back > 0 then
    now = now + back
  end
  set('seen', now)
  if redis.call('ZCOUNT', leases, now + $MAX_LEASE, '+inf') > 0 then
    all_leases(function(last) return math.min(last, now + $MAX_LEASE) end)
  end
end

local function leave(lease)
  redis.call('ZREM', leases, lease)
  redis.call('ZREM', queue, lease)
  redis.call('ZREM', silent, lease)
end

local function acquire(lease, process, interval, concurrency, duration, patience, slot)
  local failures = number('failures', $MAX_FAILURES)
  local function reply(what, wait)
    return {what, wait, slot, redis.call('ZCARD', processes), failures > 0 and 1 or 0,
      redis.call('HGET', state, 'reason') or ''}
  end
  redis.call('ZREMRANGEBYSCORE', processes, '-inf', now - $MEMORY)
  redis.call('ZADD', processes, now, process)

  -- The lowest concurrency counts for all: else those who allow more would leave no place to the others
  if concurrency > number('limit', math.huge) and now < date('limited', $LIMIT_MEMORY) then
    concurrency = math.max(math.floor(number('limit', concurrency)), 1)
  else
    set('limit', concurrency)
    set('limited', now + $LIMIT_MEMORY)
  end

  local paused, held = date('paused', $MAX_RETRY_AFTER), date('held', $MAX_RETRY_AFTER)
  if paused > now or held > now then
    leave(lease)
    return paused > now and reply('paused', paused - now) or reply('held', held - now)
  end

  if not redis.call('ZSCORE', leases, lease) then
    slot = 0
    for _, gone in ipairs(redis.call('ZRANGEBYSCORE', silent, '-inf', now)) do
      redis.call('ZREM', silent, gone)
      redis.call('ZREM', queue, gone)
    end
    redis.call('ZADD', queue, 'NX', now, lease)
    local ahead = redis.call('ZRANK', queue, lease)
    local allowed = concurrency
    if failures > 0 then
      -- no more requests than failures that are left; one before the pause, and after it
      allowed = math.min(concurrency, math.max(math.floor($MAX_FAILURES - failures), 1))
    end
    if ahead >= allowed - redis.call('ZCARD', leases) then
      -- the first ask often, the last seldom, and all less often if nothing moves: so waiting costs little
      local often = math.max(interval / 4, (now - number('tat', now)) / 8, $MIN_POLL)
      local wait = math.min((ahead + 1) * often, $MAX_POLL)
      redis.call('ZADD', silent, now + wait + $MAX_POLL, lease)
      return reply('full', wait)
    end
    leave(lease)
  end

  -- A slot stays with its lease, however late it is used: so a slow connection to this server loses none
  local tat = date('tat', math.max($MAX_AHEAD, (concurrency + 1) * interval))
  if slot == 0 or slot > math.max(now, tat) then  -- there is none yet, or the clock was set back since
    slot = math.max(now - $BURST, tat)
    if slot - now > patience then
      leave(lease)
      return reply('late', slot - now)
    end
    set('tat', slot + interval)
  end
  local wait = math.max(slot - now, 0)
  redis.call('ZADD', leases, now + math.min(wait, $MAX_POLL) + math.min(duration, $MAX_LEASE), lease)
  if wait <= $LEAD then return reply('send', wait) end
  return reply('wait', math.min(wait - $LEAD, $MAX_POLL))  -- and look for a pause meanwhile
end

local function hold(duration)
  set('held', math.max(date('held', $MAX_RETRY_AFTER), now + math.min(duration, $MAX_RETRY_AFTER)))
end

local function failed(reason, weight, asked, pause)
  local failures = number('failures', $MAX_FAILURES) + weight
  local paused = date('paused', $MAX_RETRY_AFTER)
  if asked >= 0 then
    paused = math.max(paused, now + math.min(asked, $MAX_RETRY_AFTER))
    set('reason', reason)
  elseif failures >= $MAX_FAILURES and now >= paused then
    local next = number('next', $MAX_PAUSE)
    if next == 0 then next = math.min(pause, $MAX_PAUSE) end
    paused = now + next
    set('next', 2 * next)
    set('reason', reason)
    failures = $MAX_FAILURES - 1  -- one more failure starts the next pause
  end
  set('failures', failures)
  set('paused', paused)
end

local function numbers(first)
  local found = {}
  for i = first, #ARGV do found[#found + 1] = tonumber(ARGV[i]) end
  return unpack(found)
end

local function run(operation)
  if operation == 'acquire' then return acquire(ARGV[2], ARGV[3], numbers(4))
  elseif operation == 'release' then leave(ARGV[2])
  elseif operation == 'hold' then hold(numbers(2))
  elseif operation == 'failed' then failed(ARGV[2], numbers(3))
  else redis.call('HDEL', state, 'failures', 'next') end
end

check_clock()
local answer = run(ARGV[1])
-- All expire an hour after the last date: failures are remembered
local last = now
for _, name in ipairs({'tat', 'held', 'paused'}) do last = math.max(last, date(name, $MAX_RETRY_AFTER)) end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, math.ceil((last - now) / 1000) + 3600000) end
return answer
"""
for _name, _number in {
    "$LIMIT_MEMORY": 10e6,
    "$MEMORY": MEMORY * 1e6,
    "$MIN_POLL": 0.001e6,
    "$MAX_POLL": 1e6,
    "$BURST": 0.03e6,  # seconds of the rate that a pace may catch up on
    "$LEAD": 0.25e6,  # seconds before its slot at which a request is told to go
    "$MAX_AHEAD": 60e6,
    "$MAX_LEASE": 600e6,
    "$MAX_RETRY_AFTER": MAX_RETRY_AFTER * 1e6,
    "$MAX_PAUSE": MAX_PAUSE * 1e6,
    "$MAX_FAILURES": MAX_FAILURES,
}.items():
    SCRIPT = SCRIPT.replace(_name, f"{_number:.0f}")
