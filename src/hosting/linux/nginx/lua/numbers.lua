-- Numbers for what changes: rows, names and purges. A number never returns, so an entry made under an earlier number stays invalid.
local state = ngx.shared.edge_state

local M = {}

-- Below 2^53. It rises while nginx lives. The clock in microseconds begins it, so that it exceeds every number before a restart, and
-- every number before an eviction: nginx makes fewer than a million per second.
function M.next()
  local number, err = state:incr("clock", 1, math.floor(ngx.now() * 1000000))
  if not number then error("no number: " .. err) end
  return number
end

-- The number of `key`, made if it is missing or was evicted.
function M.of(key)
  local number = state:get(key)
  if number then return number end
  number = M.next()
  state:add(key, number)
  return state:get(key) or number
end

-- Gives `key` a new number.
function M.renew(key)
  local number = M.next()
  local ok, err = state:set(key, number)
  if not ok then error("cannot renew " .. key .. ": " .. err) end
  return number
end

return M
