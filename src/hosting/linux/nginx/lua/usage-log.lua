-- Bounds the log of requests, which is in memory. The host renames it every few seconds; if the host is down, the log stays as it is
-- once it is full.
local settings = require "settings"

local EVERY_SECONDS = 1

local M = {}

local full = false

local function measure()
  local file = io.open(settings.usageLog, "rb")
  full = file ~= nil and file:seek("end") >= settings.mostUsageBytes
  if file then file:close() end
end

function M.init_worker()
  assert(ngx.timer.every(EVERY_SECONDS, measure))
end

-- The log phase, before nginx writes the line. Lines without an install are not written.
function M.finish()
  if full then ngx.var.install = "" end
end

return M
