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
  if var.page_bypass ~= "" then return ngx.exec("@php") end
  local script = var.uri
  -- The script travels to the inner server in a header.
  if script ~= "/index.php" and script:find("[^!-~]") then return ngx.exec("@php") end
  local uri, campaign = page_key.split(var.request_uri)
  local host = var.host
  local where = var.scheme .. "://" .. host .. var.port_suffix .. uri
  local variant = page_key.variant(var.http_accept_encoding, settings.brotli)
  local function rules() return rows.find(host).row.pages end
  local key, how, token = page_state.enter(page_state.page(var.install, uri, where), variant, rules)
  if how == "pass" then return ngx.exec("@php") end
  if how == "busy" then
    ngx.header["Retry-After"] = "5"
    return ngx.exit(503)
  end
  var.page_key = key
  if token then
    var.page_token = token
    var.page_making = key
  end
  if how == "last" or (token and page_state.has_last(key) and rules().staleIfError == true) then
    if how == "last" then var.page_last = "1" end
    -- The last page is the compressed one; nginx decompresses it for others.
    var.page_cached, var.page_variant = key, "gzip"
    var.page_uri, var.page_campaign = uri, campaign
    return ngx.exec("@page_kept")
  end
  var.page_cached = page_state.slot_of(key, variant)
  var.page_variant = variant
  if campaign ~= "" then
    var.page_uri, var.page_campaign = uri, campaign
    return ngx.exec("@page_campaign")
  end
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
