-- Wakes PHP-FPM for requests that arrive together. PHP-FPM starts a process for a connection that arrives while all others are busy. A process
-- that has just started counts as idle until it takes its connection, so the next connection gets none and waits for the whole request
-- before it. One more connection, which brings no request, makes PHP-FPM look again.
local M = {}

local counts = ngx.shared.edge_limits

-- A process needs up to this time to take its connection, on a busy machine.
local TOGETHER_SECONDS = 0.1
-- Between two connections that wake PHP-FPM, because each starts one process.
local STEP_SECONDS = 0.03
local MOST_STEPS = 10

local function wake(premature, socket)
  if premature then return end
  local connection = ngx.socket.tcp()
  connection:settimeout(1000)
  if connection:connect(socket) then connection:close() end
end

-- Call before a request goes to that socket. Without memory for the count, requests only wait longer.
function M.asked(socket)
  local key = "php " .. socket
  local count = counts:incr(key, 1, 0)
  if not count then return end
  counts:expire(key, TOGETHER_SECONDS)
  if count == 1 then return end
  ngx.timer.at(STEP_SECONDS * math.min(count - 1, MOST_STEPS), wake, socket)
end

return M
