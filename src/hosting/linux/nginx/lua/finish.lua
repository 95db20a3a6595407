-- The log phase of every request of a visitor.
local page = require "page"
local usage_log = require "usage-log"

local M = {}

function M.run()
  page.finish()
  usage_log.finish()
end

return M
