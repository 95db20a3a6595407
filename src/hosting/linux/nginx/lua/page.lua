-- The access phase of requests for PHP: from the page cache or not.
local page_key = require "page-key"
local page_state = require "page-state"
local rows = require "rows"
local settings = require "settings"

page_key.configure(settings.campaignParameters, settings.campaignPrefix)

local M = {}

function M.access()
  local var = ngx.var
  if var.php == "" then return ngx.exit(404) end
  -- The script travels to the inner server in a header.
  if var.page_bypass ~= "" or var.uri:find("[^!-~]") then return ngx.exec("@php") end
  local uri, campaign = page_key.split(var.request_uri)
  local id = var.install
  local settings_of = rows.find(var.host).row.pages
  local keeps_last = settings_of.staleIfError == true
  local where = var.scheme .. "://" .. var.host .. var.port_suffix .. uri
  local variant = page_key.variant(var.http_accept_encoding, settings.brotli)
  local key, how, token = page_state.enter(page_state.page(id, uri, where), variant, settings_of.mostBytes, keeps_last)
  if how == "pass" then return ngx.exec("@php") end
  if how == "busy" then
    ngx.header["Retry-After"] = "5"
    return ngx.exit(503)
  end
  if token then
    var.page_token = token
    var.page_making = key
  end
  var.page_uri = uri
  var.page_key = key
  var.page_cached = page_state.slot_of(key, variant)
  var.page_from = variant == "gzip" and "homeport_inner" or "homeport_primary"
  var.page_variant = variant
  if keeps_last then var.page_keeps = "1" end
  if campaign ~= "" then var.page_campaign = campaign end
  if keeps_last and (how == "last" or token and page_state.has_last(key)) then
    if how == "last" then var.page_last = "1" end
    -- The last page is the compressed one; nginx decompresses it for others.
    var.page_cached, var.page_from, var.page_variant = key, "homeport_inner", "gzip"
    return ngx.exec("@page_kept")
  end
  if campaign ~= "" then return ngx.exec("@page_campaign") end
end

-- Gives a redirect the campaign parameters that the key left out.
function M.header_filter()
  local var = ngx.var
  local location = ngx.header["Location"]
  if type(location) ~= "string" or var.page_campaign == "" then return end
  ngx.header["Location"] = page_key.with_campaign(location, var.host .. var.port_suffix, var.page_campaign)
end

-- In the log phase of every request.
function M.finish()
  local var = ngx.var
  local making = var.page_making
  if making and making ~= "" then page_state.release(making, var.page_token) end
  if var.upstream_cache_status == "MISS" and var.upstream_http_x_page_until then
    page_state.count_stored(var.install, tonumber(var.upstream_response_length) or 0)
  end
end

return M
