-- How much of the cache's disk an install may fill. Strangers can think up any number of queries, and of paths that are missing, so
-- those have a share of their own; pages that were stored before have reserved room, and one address block never takes all of it.
local page_key = require "page-key"

local pages = ngx.shared.edge_pages

-- Seconds in which an install may store its number of bytes, and the least that a file counts.
local WINDOW = 600
local LEAST_BYTES = 16384
-- As long as a file stays on disk after its last visit.
local STORED_FOR = 4200

local M = {}

local function stored_key(id, where)
  return "k" .. id .. ngx.md5(where)
end

local function used(counter)
  return pages:get(counter) or 0
end

-- Half of the install's bytes are for pages without a query, and half for all others. The last half of each is for pages that were
-- stored before. An address block may store an eighth.
local function share_of(id, query)
  return (query and "v" or "s") .. id
end

-- Whether PHP's answer for this page may be stored if it is a page. One that was stored under this key replaces its file.
function M.has_room(page, key, most, block)
  local before = pages:get(stored_key(page.id, page.where))
  if before == key then return true end
  local share = most / 2
  local taken = used(share_of(page.id, page.query))
  if before then return taken < share end
  return taken < share / 2 and used("a" .. page.id .. block) < most / 8
end

-- Whether a redirect or a missing page may be stored, whatever its address.
function M.has_room_for_brief(id, most)
  return used(share_of(id, true)) < most / 2
end

-- Remembers that a page is stored under this key.
function M.stored(id, where, key)
  pages:set(stored_key(id, where), key, STORED_FOR)
end

-- Counts a new file. `block`: the address that caused it, if known.
function M.count(id, uri, status, bytes, block)
  local counted = math.max(bytes, LEAST_BYTES)
  local is_page = status == 200 or status == 203
  pages:incr(share_of(id, not is_page or page_key.has_query(uri)), counted, 0, WINDOW)
  if block then pages:incr("a" .. id .. block, counted, 0, WINDOW) end
end

return M
