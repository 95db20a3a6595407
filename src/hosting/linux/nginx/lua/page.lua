-- The access phase of requests for PHP: from the page cache or not.
local body = require "body"
local cache_rules = require "cache-rules"
local page_key = require "page-key"
local page_share = require "page-share"
local page_state = require "page-state"
local rows = require "rows"
local settings = require "settings"

page_key.configure(
  settings.campaignParameters, settings.campaignPrefix, settings.personalSegments, settings.personalParameter)

-- Seconds.
local QUERIES_WINDOW = 10

local M = {}

-- Whether an address block asks PHP for too many addresses with a query, which strangers can think up without end.
local function asks_too_much(page, var)
  if not page.query then return false end
  local asked = ngx.shared.edge_limits:incr("q" .. page.id .. var.client_block, 1, 0, QUERIES_WINDOW)
  return (asked or 0) > settings.mostQueries
end

-- Whether the client wants a page only if the cache can answer: `wantsOnlyCached` of policy/page-request-headers.ts.
local function is_only_cached(var)
  local asked = var.http_cache_control
  return asked ~= nil and ("," .. asked:lower():gsub("%s", "") .. ","):find(",only-if-cached,", 1, true) ~= nil
end

-- The cache has no page, and PHP is not to be asked.
local function refuse_uncached()
  ngx.status = 504
  ngx.header["Cache-Control"] = "no-store"
  ngx.header["X-Cache"] = "MISS"
  ngx.header["Content-Length"] = 0
  ngx.send_headers()
  return ngx.exit(504)
end

local function keeps_last(host)
  local entry = rows.find(host)
  return entry ~= nil and entry.row.pages.staleIfError == true
end

local function rules_of(host)
  local entry = rows.find(host)
  return entry and cache_rules.of(entry.row)
end

-- Whether the install keeps this page, or this visitor, away from the cache.
local function is_bypassed(own, request_uri, var)
  return cache_rules.is_uncached(own, page_key.path_of(request_uri)) or cache_rules.has_cookie(own, var.http_cookie)
end

function M.access()
  local var = ngx.var
  if var.php == "" then return ngx.exit(404) end
  body.discard_unannounced(var)
  local only_cached = is_only_cached(var)
  if only_cached and var.page_bypass ~= "" then return refuse_uncached() end
  if var.page_bypass ~= "" then return ngx.exec(body.php_location(var)) end
  local script = var.uri
  -- The script travels to the inner server in a header.
  if script ~= "/index.php" and script:find("[^!-~]") then return ngx.exec(body.php_location(var)) end
  local request_uri = var.request_uri
  -- A fragment never leaves a browser (RFC 9112 section 3.2). PHP would see a path of its own.
  if request_uri:find("#", 1, true) then return ngx.exit(400) end
  local host = var.host
  local own = var.page_rules ~= "" and rules_of(host) or nil
  if own and is_bypassed(own, request_uri, var) then
    if only_cached then return refuse_uncached() end
    return ngx.exec(body.php_location(var))
  end
  local uri, campaign = page_key.split(request_uri, own and own.parameters)
  local where = var.visitor_scheme .. "://" .. host .. var.port_suffix .. uri
  local variant = page_key.variant(var.http_accept_encoding, settings.brotli)
  local page = page_state.page(var.install, uri, where)
  if only_cached and (page.personal or not page_state.answers(page, variant)) then return refuse_uncached() end
  if page.personal then return ngx.exec(body.php_location(var)) end
  local key, how, token = page_state.enter(page, variant, host, var)
  if token then
    var.page_token = token
    var.page_making = key
  end
  if how == "busy" then return ngx.exit(503) end
  if how == "gone" then return ngx.exit(404) end
  if (how == "pass" or token) and asks_too_much(page, var) then
    var.retry = QUERIES_WINDOW
    return ngx.exit(429)
  end
  if how == "pass" then return ngx.exec(body.php_location(var)) end
  var.page_key = key
  if how == "last" or (token and page_state.has_last(key) and keeps_last(host)) then
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
    local uri = var.page_uri ~= "" and var.page_uri or var.request_uri
    page_share.count(var.install, uri, ngx.status, tonumber(var.upstream_response_length) or 0, var.client_block)
  end
end

return M
