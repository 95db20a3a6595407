-- Chooses the location of PHP by the size of the body that an install accepts.
local rows = require "rows"
local settings = require "settings"

local limits = settings.bodyLimits

local M = {}

-- Whether the install accepts larger bodies than others.
function M.is_raised(row)
  return row.bodyBytes ~= nil and row.bodyBytes > settings.bodyBytes
end

-- Other methods keep the standard limit, so that no body without a length is large and counted by no limit.
local WITH_LARGE_BODY = { POST = true, PUT = true, PATCH = true }

-- Whether a request without a length may have a large body. HTTP/1 names an encoding then; later versions need no header.
function M.may_be_untold(var)
  if not WITH_LARGE_BODY[var.request_method] then return false end
  return var.http_transfer_encoding ~= nil or var.server_protocol:sub(1, 7) ~= "HTTP/1."
end

-- RFC 9110 section 9.3 gives a body no meaning here. From HTTP/2 on, one can come without any header, so that no limit counts it.
local WITHOUT_BODY = { GET = true, HEAD = true, OPTIONS = true }

-- Makes nginx drop the body of a request that announces none.
function M.discard_unannounced(var)
  if not WITHOUT_BODY[var.request_method] then return end
  if var.http_content_length or var.http_transfer_encoding then return end
  ngx.req.discard_body()
end

-- The route has checked the length, so that only a body without one needs its own limit.
function M.php_location(var)
  if var.http_content_length or var.large_bodies == "" then return limits[1].location end
  local entry = rows.find(var.host)
  local most = entry and entry.row.bodyBytes or 0
  for _, limit in ipairs(limits) do
    if limit.bytes >= most then return limit.location end
  end
  return limits[#limits].location
end

return M
