-- The inner server, which asks PHP for pages of the cache: decides about keeping, and tells the other visitors.
local answer_status = require "answer-status"
local keeping = require "keeping"
local page_share = require "page-share"
local page_state = require "page-state"
local rows = require "rows"

local M = {}

-- Bytes of the longest answer that may be kept. One with a length is shorter, so this cuts off answers without end.
local LONGEST = 80000000

-- PAGE_SECONDS.usual of hosting/contract/website-rules.ts, for a name whose website is gone.
local USUAL_SECONDS = 60

-- Several lines of a header as one.
local function joined(value)
  return type(value) == "table" and table.concat(value, ", ") or value
end

local function expires_at(value)
  if value == nil then return nil end
  if type(value) == "table" then value = value[1] end
  local time = ngx.parse_http_time(value)
  return time and time * 1000 or false
end

local function decide()
  local header = ngx.header
  local key = ngx.var.http_x_edge_page
  local entry = rows.find(ngx.var.host)
  local keeps_last = entry ~= nil and entry.row.pages.staleIfError == true
  local cache_control, vary = joined(header["Cache-Control"]), joined(header["Vary"])
  local fresh, stale, on_error, brief = keeping.of({
    status = ngx.status,
    cache_control = cache_control,
    expires_at = expires_at(header["Expires"]),
    x_accel_expires = joined(header["X-Accel-Expires"]),
    x_accel_buffering = joined(header["X-Accel-Buffering"]),
    vary = vary,
    sets_cookie = header["Set-Cookie"] ~= nil,
    content_type = joined(header["Content-Type"]),
    content_length = joined(header["Content-Length"]),
    content_encoding = joined(header["Content-Encoding"]),
  }, ngx.now() * 1000, entry and entry.row.pages.seconds or USUAL_SECONDS)
  local has_room = not brief or (entry and page_share.has_room_for_brief(entry.row.id, entry.row.pages.mostBytes))
  header["X-Accel-Expires"] = nil
  header["X-Page-Cache-Control"] = cache_control
  header["X-Page-Until"], header["X-Page-Stale"] = nil, nil
  if not fresh or not has_room then
    header["Cache-Control"] = "no-store"
    if ngx.var.http_x_edge_last == "1" then return end
    if fresh then return page_state.without_room(key) end
    if ngx.status >= 500 then return page_state.failed(key, keeps_last) end
    return page_state.unkept(key, ngx.status)
  end
  -- nginx says that itself for every page.
  if vary then
    vary = keeping.vary_without_encoding(vary)
    header["Vary"] = vary ~= "" and vary or nil
  end
  local til = ngx.time() + fresh
  header["Cache-Control"] = M.stored_for(fresh, stale)
  header["X-Page-Until"], header["X-Page-Stale"] = til, stale
  -- nginx shows a stale page until the end of that second.
  ngx.ctx.ready_until = til + stale + 1
  ngx.ctx.keep_last = keeps_last and on_error
end

-- `Cache-Control` for the cache.
function M.stored_for(fresh, stale)
  return "max-age=" .. fresh .. (stale > 0 and ", stale-while-revalidate=" .. stale or "")
end

-- An error here would close the connection without an answer.
function M.header_filter()
  answer_status.header_filter()
  local ok, err = pcall(decide)
  if ok then return end
  ngx.log(ngx.ERR, "cannot decide whether to keep a page: ", err)
  ngx.header["Cache-Control"] = "no-store"
  ngx.header["X-Page-Until"] = nil
end

-- The body, before its compression. The cache writes an answer whole, whatever its own size, so a longer one is cut off here, and
-- nginx keeps nothing of it.
function M.body_filter()
  local ctx = ngx.ctx
  if not ctx.ready_until then return end
  local bytes = (ctx.bytes or 0) + #ngx.arg[1]
  ctx.bytes = bytes
  if bytes > LONGEST then return ngx.ERROR end
end

-- The log phase. The answer has left completely, so it is in the cache by the time that waiting visitors look again.
function M.log()
  local til = ngx.ctx.ready_until
  if not til then return end
  local key = ngx.var.http_x_edge_page
  if ngx.var.request_completion ~= "OK" then return page_state.forget(key) end
  page_state.ready(key, til)
  page_state.kept(key)
  local var = ngx.var
  local where = var.http_x_edge_scheme .. "://" .. var.http_x_edge_host .. var.request_uri
  page_share.stored(var.http_x_edge_install, where, key)
  if ngx.ctx.keep_last then page_state.keep_last(key) end
end

return M
