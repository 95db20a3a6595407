-- The primary server, which makes the other variants from the cached page: they are kept as long as the page.
local inner = require "inner"
local page_share = require "page-share"
local page_state = require "page-state"

local M = {}

local function decide()
  local header = ngx.header
  local til, stale = tonumber(header["X-Page-Until"]), tonumber(header["X-Page-Stale"])
  local left = til and til - ngx.time() or 0
  if left < 1 or not stale then
    header["Cache-Control"] = "no-store"
    header["X-Page-Until"] = nil
    return
  end
  header["Cache-Control"] = inner.stored_for(left, stale)
  ngx.ctx.ready_until = til + stale + 1
end

-- An error here would close the connection without an answer.
function M.header_filter()
  local ok, err = pcall(decide)
  if ok then return end
  ngx.log(ngx.ERR, "cannot decide how long to keep a variant: ", err)
  ngx.header["Cache-Control"] = "no-store"
  ngx.header["X-Page-Until"] = nil
end

function M.log()
  local var = ngx.var
  local til = ngx.ctx.ready_until
  if not til then return end
  local slot = page_state.slot_of(var.http_x_edge_page, var.http_accept_encoding or "")
  if var.request_completion == "OK" then page_state.ready(slot, til) else page_state.forget(slot) end
  if var.upstream_cache_status == "MISS" then
    local bytes = tonumber(var.upstream_response_length) or 0
    page_share.count(var.http_x_edge_install, var.request_uri, ngx.status, bytes)
  end
end

return M
