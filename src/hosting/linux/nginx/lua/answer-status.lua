-- Corrects heads of answers that PHP or another server sent.
local M = {}

-- An answer of a protected website has `private` from route.lua, and the next lines from PHP, which may say the opposite.
local function keep_private()
  local lines = ngx.header["Cache-Control"]
  if type(lines) ~= "table" or lines[1] ~= "private" then return end
  local others = table.concat(lines, ", ", 2):lower()
  if others:find("public", 1, true) or others:find("s-maxage", 1, true) then ngx.header["Cache-Control"] = "private" end
end

-- Refuses statuses that are no answer. HTTP ends an answer with a status below 200 after its headers, so a client reads the body as
-- the next answer; after 101, nginx itself would let a visitor talk to the server behind it.
function M.header_filter()
  if ngx.status < 200 or ngx.status > 599 then ngx.status = 502 end
  keep_private()
end

return M
