"""The Lua script of a shared pace; Redis runs it as one step."""

from __future__ import annotations

from doiuri.resolver.http._limiter import MAX_FAILURES, MAX_PAUSE, MAX_RETRY_AFTER

GRACE = 0.03
"""Seconds by which a request may be later than its slot; a later one gets another slot."""

MEMORY = 60.0
"""Seconds for which a process that sent no request is counted."""

# Times are microseconds on the server's clock, so those of the machines do not matter.
# KEYS: a hash (tat: when the next request may be sent; held, paused, reason, failures, next; seen: the latest
# time), leases by their end, processes by their latest request, and a list on which waiting processes block.
# ARGV: an operation and its arguments. All keys have the same hash tag, and all expire.
SCRIPT = """
local state, leases, processes, wake = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function number(name)
  local value = tonumber(redis.call('HGET', state, name) or nil) or 0
  return value == value and value or 0
end

local function set(name, value)
  redis.call('HSET', state, name, value)
end

local back = number('seen') - now
if back > 1000000 then  -- the clock was set back, or another server took over
  for _, name in ipairs({'tat', 'held', 'paused'}) do set(name, number(name) - back) end
  local old = redis.call('ZRANGE', leases, 0, -1, 'WITHSCORES')
  for i = 1, #old, 2 do redis.call('ZADD', leases, old[i + 1] - back, old[i]) end
  redis.call('DEL', processes)
end

local function acquire(lease, process, interval, concurrency, duration, patience, slot)
  local failures = number('failures')
  local function reply(what, wait, slot)
    return {what, wait, slot or 0, redis.call('ZCARD', processes), failures > 0 and 1 or 0,
      redis.call('HGET', state, 'reason') or ''}
  end
  redis.call('ZREMRANGEBYSCORE', processes, '-inf', now - $MEMORY)
  redis.call('ZADD', processes, now, process)
  redis.call('PEXPIRE', processes, $MEMORY / 1000)
  redis.call('ZREMRANGEBYSCORE', leases, '-inf', now)
  local paused = math.min(number('paused'), now + $MAX_RETRY_AFTER)
  local held = math.min(number('held'), now + $MAX_RETRY_AFTER)
  if paused > now or held > now then
    redis.call('ZREM', leases, lease)
    return paused > now and reply('paused', paused - now) or reply('hold', held - now)
  end
  if not redis.call('ZSCORE', leases, lease) then
    -- no more requests than failures that are left; one before the pause, and after it
    local allowed = concurrency
    if failures > 0 then
      allowed = math.min(concurrency, math.max(math.floor($MAX_FAILURES - failures), 1))
    end
    if redis.call('ZCARD', leases) >= allowed then
      return reply('full', redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')[2] - now)
    end
    slot = 0
  end
  if slot > math.max(now, number('tat')) then slot = 0 end  -- booked before the clock was set back
  if slot > now then return reply('wait', slot - now, slot) end
  if now - slot > $GRACE then
    local tat = number('tat')
    slot = math.max(now - $GRACE, tat)
    if slot - now > patience then
      redis.call('ZREM', leases, lease)
      return reply('late', slot - now)
    end
    tat = slot + interval
    set('tat', tat)
    redis.call('ZADD', leases, math.max(slot, now) + duration, lease)
    redis.call('PEXPIRE', leases, math.ceil((math.max(slot - now, 0) + duration) / 1000) + 60000)
    redis.call('PEXPIRE', state, math.ceil((tat - now) / 1000) + 3600000)
  end
  set('seen', now)
  return slot > now and reply('wait', slot - now, slot) or reply('send', 0, slot)
end

local function release(lease)
  if redis.call('ZREM', leases, lease) == 1 and redis.call('LLEN', wake) < 16 then
    redis.call('RPUSH', wake, '')
    redis.call('PEXPIRE', wake, 10000)
  end
end

local function keep(date)
  redis.call('PEXPIRE', state, math.ceil((math.max(date, number('tat')) - now) / 1000) + 3600000)
end

local function hold(duration)
  local held = math.max(number('held'), now + math.min(duration, $MAX_RETRY_AFTER))
  set('held', held)
  keep(held)
end

local function failed(weight, reason, asked, pause)
  local failures, paused = number('failures') + weight, number('paused')
  if asked >= 0 then
    paused = math.max(paused, now + math.min(asked, $MAX_RETRY_AFTER))
    set('reason', reason)
  elseif failures >= $MAX_FAILURES and now >= paused then
    local next = number('next')
    if next <= 0 then next = pause end
    paused = now + math.min(next, $MAX_PAUSE)
    set('next', math.min(2 * next, $MAX_PAUSE))
    set('reason', reason)
    failures = $MAX_FAILURES - 1  -- one more failure starts the next pause
  end
  set('failures', failures)
  set('paused', paused)
  keep(paused)
end

local operation = ARGV[1]
if operation == 'acquire' then
  return acquire(ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]),
    tonumber(ARGV[8]))
elseif operation == 'release' then release(ARGV[2])
elseif operation == 'hold' then hold(tonumber(ARGV[2]))
elseif operation == 'failed' then failed(tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]))
else redis.call('HDEL', state, 'failures', 'next')
end
"""
for _name, _number in {
    "$MEMORY": MEMORY * 1e6,
    "$GRACE": GRACE * 1e6,
    "$MAX_RETRY_AFTER": MAX_RETRY_AFTER * 1e6,
    "$MAX_PAUSE": MAX_PAUSE * 1e6,
    "$MAX_FAILURES": MAX_FAILURES,
}.items():
    SCRIPT = SCRIPT.replace(_name, f"{_number:.0f}")
