-- Decides where a request goes, before nginx selects a location.
local addresses = require "addresses"
local body = require "body"
local cache_rules = require "cache-rules"
local forwarding = require "forwarding"
local held = require "held"
local offload = require "offload"
local path_redirects = require "path-redirects"
local protection = require "protection"
local redirects = require "redirects"
local routes = require "routes"
local rows = require "rows"
local rules = require "rules"
local settings = require "settings"

protection.configure(settings.passwordRounds, settings.mostPasswordRounds)

local OWN = "/.well-known/homeport/"
local ACME = "/.well-known/acme-challenge/"
local CHECKS = "/.well-known/homeport-check/"
-- LOGIN_PATH of hosting/contract/wordpress-login.ts.
local LOGIN = "/.well-known/homeport-login"
-- DATABASE_PATH of hosting/contract/database-access.ts.
local DATABASE = "/.well-known/homeport-database/"

local M = {}

local function begins(text, prefix)
  return text:sub(1, #prefix) == prefix
end

-- Texts that every name answers, before any redirect and also without a website.
local function is_proof(uri)
  return begins(uri, CHECKS) or (begins(uri, ACME) and #uri > #ACME and not uri:find("[^A-Za-z0-9_-]", #ACME + 1))
end

-- Says that the row is served in this revision.
local function answer_marker(row)
  ngx.header["Content-Type"] = "text/plain"
  ngx.header["Cache-Control"] = "no-store"
  ngx.print("homeport ", row.id, " ", row.revision, "\n")
  return ngx.exit(200)
end

-- Scheme, name and port of the address that the name redirects to; nil to serve the website.
local function redirect_base(entry, var)
  local scheme, name = redirects.target(entry.row.names, entry.name, var.visitor_scheme, ngx.now() * 1000)
  if not scheme then return nil end
  local port = scheme == var.visitor_scheme and var.port_suffix or var.https_port_suffix
  return scheme .. "://" .. (name or var.host) .. port
end

-- Whether the visitor's address is blocked. This machine asks its own websites from the address that it asks.
local function is_blocked(row, var)
  if addresses.is_empty(row.blocked) then return false end
  return addresses.contains(row.blocked, addresses.digits(var.binary_remote_addr)) and var.remote_addr ~= var.server_addr
end

-- Ends the request unless the visitor may see the website. WordPress would take the credentials for its own, so that they stay here.
local function protect(row, var)
  -- A shared cache would show the answer to visitors without the password.
  ngx.header["Cache-Control"] = "private"
  local own, basic = var.http_x_visitor_authorization, var.http_authorization
  local digits = addresses.digits(var.binary_remote_addr)
  if protection.admits(row.protect, digits, var.http_x_homeport_pass, var.cookie_homeport_pass, ngx.now()) then
    ngx.req.clear_header("X-Visitor-Authorization")
    if protection.names_visitor(row.protect, basic) then ngx.req.clear_header("Authorization") end
    ngx.req.clear_header("X-Homeport-Pass")
    return
  end
  local status, retry = protection.refusal(row, own or basic, var.client_block)
  if not status then
    ngx.req.clear_header(own and "X-Visitor-Authorization" or "Authorization")
    return
  end
  if status == 401 then
    ngx.header["WWW-Authenticate"] = 'Basic realm="' .. row.protect.realm .. '", charset="UTF-8"'
  else
    var.retry = retry
  end
  return ngx.exit(status)
end

-- Seconds until another attempt of that kind is accepted after a burst.
local NEXT_ATTEMPT = settings.nextAttempt

-- Ends the request if the install redirects its path. A redirect to the same address, with either scheme, would never end.
local function redirect_path(row, uri, var)
  local target, status = path_redirects.find(row, uri, var.args)
  if not target then return end
  local asked = var.request_uri
  if target == asked or target:match("^https?://(.*)$") == var.host .. var.port_suffix .. asked then return end
  ngx.header["Cache-Control"] = "no-cache"
  return ngx.redirect(target, status)
end

local function choose_offload(row, uri, method, var)
  if (method ~= "GET" and method ~= "HEAD") or begins(uri, ACME) then return end
  local kind = offload.redirect_type(row.offload.rules, uri)
  if not kind then return end
  var.offload_base = row.offload.base
  var.offload_fetch_base = row.offload.fetchBase
  var.offload = kind
end

-- The access phase of a challenge that the host has not published: the website answers, so its visitors are checked.
function M.unproved()
  local var = ngx.var
  local entry = rows.find(var.host)
  if not entry then return end
  if is_blocked(entry.row, var) then return ngx.exit(403) end
  if entry.row.closed then return ngx.exit(503) end
  if entry.row.protect ~= rows.null then protect(entry.row, var) end
end

function M.run()
  -- An internal redirect comes here again. The variables keep what the request found.
  if ngx.req.is_internal() then return end
  local var = ngx.var
  local uri = var.uri
  local sender = forwarding.sender(var)
  local refusal = sender and forwarding.refusal(sender, var)
  if refusal then return ngx.exit(refusal) end
  local entry = rows.find(var.host)
  local route = routes.find(var.host, entry)
  if route then return forwarding.forward(route, sender, var) end
  if not entry then
    if is_proof(uri) then return end
    return ngx.exec(OWN .. "no-website")
  end
  local row = entry.row
  if begins(uri, OWN) then
    if uri == OWN .. row.id .. "/" .. row.revision then return answer_marker(row) end
    var.install = row.id
    return
  end
  var.install = row.id
  var.site_root = row.root
  var.site_home = row.home
  var.php = row.php ~= rows.null and row.php or ""
  ngx.ctx.entry = entry
  local length = tonumber(var.http_content_length)
  if length and length > (row.bodyBytes or settings.bodyBytes) then return ngx.exit(413) end
  if not length and body.is_raised(row) and body.may_be_untold(var) then var.large_bodies = "1" end
  local base = redirect_base(entry, var)
  if base then var.redirect_to = base end
  if is_proof(uri) then return end
  if is_blocked(row, var) then return ngx.exit(403) end
  if base then return ngx.exec(OWN .. "redirect") end
  -- It lost data: without it, WordPress would show empty pages, or offer its installation.
  if row.closed then return ngx.exec(OWN .. "closed") end
  held.route(row, uri, var)
  if row.noindex == "all" or entry.name.default then ngx.header["X-Robots-Tag"] = "noindex" end
  -- Its token admits the visitor. settings.php checks the token at this spelling only.
  if uri == LOGIN and var.request_uri:match("^[^?]*") == LOGIN then return end
  -- Only the page of the database answers there, at any spelling. It asks for a link or a session.
  if uri == DATABASE then
    ngx.header["X-Robots-Tag"] = "noindex"
    return
  end
  if row.protect ~= rows.null then protect(row, var) end
  redirect_path(row, uri, var)
  if not row.xmlrpc and rules.is_xmlrpc(uri) then return ngx.exit(403) end
  if rules.is_hidden(uri) or rules.is_denied(row, uri) then return ngx.exit(404) end
  local method = ngx.req.get_method()
  if row.offload ~= rows.null then choose_offload(row, uri, method, var) end
  if cache_rules.exist(row) then var.page_rules = "1" end
  local attempt = rules.login_kind(method, uri, var.args)
  if attempt and (attempt == "postpass" or row.limits[attempt]) then
    var[attempt .. "_key"] = row.id .. var.client_block
    var.retry = NEXT_ATTEMPT[attempt]
  end
end

return M
