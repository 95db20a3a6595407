-- Websites that are being moved: visitors read them, and no one changes them.
local rows = require "rows"

local PAGE = "/.well-known/homeport/held"
-- LOGIN_PATH of hosting/contract/wordpress-login.ts.
local LOGIN = "/.well-known/homeport-login"
-- DATABASE_PATH of hosting/contract/database-access.ts.
local DATABASE = "/.well-known/homeport-database/"

local READS = { GET = true, HEAD = true, OPTIONS = true }

local M = {}

-- Before a website is in service, this machine checks its pages.
local function is_held(row, var)
  if not row.held then return false end
  if row.held.untilMs == rows.null then return var.remote_addr ~= var.server_addr end
  return ngx.now() * 1000 < row.held.untilMs
end

-- WordPress's REST API takes the method from these.
local function has_another_method(var)
  return var.http_x_http_method_override ~= nil or ngx.req.get_uri_args()._method ~= nil
end

-- The pages of wp-admin would show forms that cannot be sent.
local function may_change(uri, var)
  return not READS[ngx.req.get_method()]
    or uri:sub(1, 9) == "/wp-admin"
    or uri == "/wp-cron.php"
    or uri == LOGIN
    or uri == DATABASE
    or has_another_method(var)
end

-- Answers a request that may change a website while it is held.
function M.route(row, uri, var)
  if is_held(row, var) and may_change(uri, var) then return ngx.exec(PAGE) end
end

-- The access phase of requests for PHP. A slow body arrives for minutes, and the hold may have begun since the route looked. Lua
-- cannot wait for a body of HTTP/2 without a length, which browsers do not send.
function M.access()
  local var = ngx.var
  if READS[var.request_method] then return end
  if not var.http_content_length and var.server_protocol:sub(1, 7) ~= "HTTP/1." then return end
  ngx.req.read_body()
  local entry = rows.find(var.host)
  if entry and is_held(entry.row, var) then return ngx.exec(PAGE) end
end

return M
