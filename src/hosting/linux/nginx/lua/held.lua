-- Websites that are being moved: visitors read them, and no one changes them.
local balancer = require "ngx.balancer"
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

-- NGX_BUSY, for which Lua has no name: nginx answers with 502, as without any server.
local BUSY = -3
-- The upstream of requests whose body Lua cannot wait for. See M.balance.
local LATE = "homeport_late"

local function is_held_now(var)
  local entry = rows.find(var.host)
  return entry and is_held(entry.row, var)
end

-- The access phase of requests for PHP. A slow body arrives for minutes, and the hold may have begun since the route looked. Lua
-- cannot wait for a body of HTTP/2 without a length. Returns the socket of PHP.
function M.access()
  local var = ngx.var
  local php = var.php
  if READS[var.request_method] then return php end
  if not var.http_content_length and var.server_protocol:sub(1, 7) ~= "HTTP/1." then
    ngx.ctx.late_php = php
    var.php = LATE
    return php
  end
  ngx.req.read_body()
  if is_held_now(var) then return ngx.exec(PAGE) end
  return php
end

-- nginx chooses the server of an upstream once it has the whole body. Here, Lua can refuse with 502 only, and without a page.
function M.balance()
  if is_held_now(ngx.var) then return ngx.exit(BUSY) end
  local ok, err = balancer.set_current_peer(ngx.ctx.late_php)
  if not ok then error("cannot choose the PHP of the website: " .. err, 0) end
end

return M
