-- Decides where a request goes, before nginx selects a location.
local offload = require "offload"
local protection = require "protection"
local redirects = require "redirects"
local rows = require "rows"
local rules = require "rules"
local settings = require "settings"

protection.configure(settings.passwordRounds, settings.mostPasswordRounds)

local OWN = "/.well-known/homeport/"
local ACME = "/.well-known/acme-challenge/"
local CHECKS = "/.well-known/homeport-check/"
-- LOGIN_PATH of hosting/contract/host.ts.
local LOGIN = "/.well-known/homeport-login"

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
  local scheme, name = redirects.target(entry.row.names, entry.name, var.scheme, ngx.now() * 1000)
  if not scheme then return nil end
  local port = scheme == var.scheme and var.port_suffix or var.https_port_suffix
  return scheme .. "://" .. (name or var.host) .. port
end

-- Ends the request unless the visitor may see the website.
local function protect(row, var)
  local status = protection.refusal(row, var.http_authorization, var.client_block)
  if not status then
    -- WordPress would take the credentials for its own.
    ngx.req.clear_header("Authorization")
    return
  end
  if status == 401 then
    ngx.header["WWW-Authenticate"] = 'Basic realm="' .. row.protect.realm .. '", charset="UTF-8"'
  end
  return ngx.exit(status)
end

local function choose_offload(row, uri, method, var)
  if (method ~= "GET" and method ~= "HEAD") or begins(uri, ACME) then return end
  local kind = offload.redirect_type(row.offload.rules, uri)
  if not kind then return end
  var.offload_base = row.offload.base
  var.offload_fetch_base = row.offload.fetchBase
  var.offload = kind
end

-- The access phase of a challenge that the host has not published: the website answers, so its password counts.
function M.unproved()
  local entry = rows.find(ngx.var.host)
  if entry and entry.row.protect ~= rows.null then protect(entry.row, ngx.var) end
end

function M.run()
  -- An internal redirect comes here again. The variables keep what the request found.
  if ngx.req.is_internal() then return end
  local var = ngx.var
  local uri = var.uri
  local entry = rows.find(var.host)
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
  local base = redirect_base(entry, var)
  if base then var.redirect_to = base end
  if is_proof(uri) then return end
  if base then return ngx.exec(OWN .. "redirect") end
  if row.noindex and entry.name.default then ngx.header["X-Robots-Tag"] = "noindex" end
  if row.protect ~= rows.null then protect(row, var) end
  if uri == LOGIN then return end
  local target, status = rules.redirect(row, uri, var.args)
  if target then return ngx.redirect(target, status) end
  if rules.is_hidden(uri) or rules.is_denied(row, uri) then return ngx.exit(404) end
  local method = ngx.req.get_method()
  if row.offload ~= rows.null then choose_offload(row, uri, method, var) end
  local attempt = rules.login_kind(method, uri)
  if attempt and row.limits[attempt] then var[attempt .. "_key"] = row.id .. var.client_block end
end

return M
