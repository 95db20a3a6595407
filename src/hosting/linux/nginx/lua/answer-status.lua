-- Refuses statuses that are no answer. HTTP ends an answer with a status below 200 after its headers, so a client reads the body as
-- the next answer; after 101, nginx itself would let a visitor talk to the server behind it.
local M = {}

function M.header_filter()
  if ngx.status < 200 or ngx.status > 599 then ngx.status = 502 end
end

return M
