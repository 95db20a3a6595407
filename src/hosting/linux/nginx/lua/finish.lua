-- The log phase of every request of a visitor.
local page = require "page"

local M = {}

function M.run()
  page.finish()
end

return M
