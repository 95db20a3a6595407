-- Which pages the cache holds, and who makes the others. A page's key contains the numbers of its install's and its path's last
-- purge, so a purge makes other keys: what PHP was making meanwhile is never found again.
local lrucache = require "resty.lrucache"
local numbers = require "numbers"
local settings = require "settings"

local state = ngx.shared.edge_state
local pages = ngx.shared.edge_pages
local purges = ngx.shared.edge_purges

-- What is known about a key: PHP makes it; the cache holds it; it is not cacheable; PHP fails, and the last page is shown.
local MAKING, READY, PASSING, FAILING = 1, 2, 3, 4

-- Seconds.
local MAKING_FOR = 30
local PASSING_FOR = 60
local PASSING_AFTER_ERROR = 1
local FAILING_FOR = 5
local LAST_FOR = 3600
local MOST_WAIT = 20
local MOST_WAIT_WITH_LAST = 5
local FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.05
-- Longer than any page of before can be shown.
local PURGED_FOR = LAST_FOR + 600
-- Seconds in which an install may store its number of bytes, and the least that a file counts.
local STORING_WINDOW = 600
local LEAST_BYTES = 16384

local M = {}

-- Begins every key, because files of an earlier nginx may still be in the cache, and clocks can be set back.
local function starts()
  local file = assert(io.open("/dev/urandom", "rb"))
  local bytes = file:read(16)
  file:close()
  state:add("start", (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end)))
  return state:get("start")
end
local start = starts()

-- A path as purges name it: decoded, without query and final slashes.
local function path_of(uri)
  local path = uri:match("^[^?#]*")
  if path:find("%", 1, true) then path = ngx.unescape_uri(path) end
  local last = #path
  while last > 0 and path:byte(last) == 47 do last = last - 1 end
  return path:sub(1, last)
end

-- Pages that this worker was asked for, with their last keys.
local MOST_KNOWN, LONGEST_KNOWN = 1000, 512
local known = assert(lrucache.new(MOST_KNOWN))

-- The key of a page; "gzip" is the page itself, and the other variants append to it.
local function key_of(page)
  local all, own, purged = numbers.of("pages"), numbers.of(page.purges), purges:get(page.path) or 0
  if page.all == all and page.own == own and page.purged == purged then return page.key end
  -- Lua itself would write these numbers with too few digits.
  local versions = ("%.0f %.0f %.0f"):format(all, own, purged)
  page.all, page.own, page.purged = all, own, purged
  page.key = page.id .. ngx.md5(start .. " " .. versions .. " " .. page.where)
  return page.key
end

local function slot_of(key, variant)
  return variant == "gzip" and key or key .. (variant == "" and "plain" or variant)
end
M.slot_of = slot_of

-- A page for `enter`. `where`: scheme, host and address.
function M.page(id, uri, where)
  local page = known:get(where)
  -- The name may have moved to another install.
  if page and page.id == id then return page end
  page = { id = id, path = id .. path_of(uri), where = where, purges = "g" .. id }
  if #where <= LONGEST_KNOWN then known:set(where, page) end
  return page
end

-- What is known about the variant of a page, and the slot that it is about.
local function look(key, variant)
  local _, flag = pages:get(key)
  if flag ~= READY or variant == "gzip" then return flag, key end
  local slot = slot_of(key, variant)
  _, flag = pages:get(slot)
  return flag, slot
end

local function is_over(id, most)
  return (pages:get("s" .. id) or 0) > most
end

-- Becomes the maker of a slot, or returns nil if another visitor is.
local function claim(key, slot, variant)
  local token = ("%.0f"):format(numbers.next())
  if not pages:add(slot, token, MAKING_FOR, MAKING) then return nil end
  local own = slot_of(key, variant)
  if slot == key and own ~= slot then pages:set(own, token, MAKING_FOR, MAKING) end
  return token
end

-- Decides how a visitor gets the variant of a page, and waits while another visitor makes it. `rules` returns the install's rules for
-- pages: `mostBytes` that it may store, and `staleIfError` if it shows the last page while PHP fails. Returns the key and
--   "page": from the cache, or make it; then with the maker's token
--   "pass": from PHP, without the cache
--   "last": the last page, without PHP
--   "busy": too many wait.
function M.enter(page, variant, rules)
  local waited, pause, counter = 0, FIRST_PAUSE, nil
  local function done(...)
    if counter then pages:incr(counter, -1) end
    return ...
  end
  while true do
    local key = key_of(page)
    local flag, slot = look(key, variant)
    if flag == READY then return done(key, "page") end
    if flag == PASSING then return done(key, "pass") end
    if flag == FAILING then return done(key, "last") end
    if flag == nil then
      if is_over(page.id, rules().mostBytes) then return done(key, "pass") end
      local token = claim(key, slot, variant)
      if token then return done(key, "page", token) end
    end
    if waited >= MOST_WAIT_WITH_LAST and M.has_last(key) and rules().staleIfError then return done(key, "last") end
    if waited >= MOST_WAIT then return done(key, "page") end
    if not counter then
      counter = "w" .. slot
      if pages:incr(counter, 1, 0, MAKING_FOR + MOST_WAIT) > settings.mostWaiters then return done(key, "busy") end
    end
    ngx.sleep(pause)
    waited = waited + pause
    pause = math.min(pause * 1.5, LONGEST_PAUSE)
  end
end

-- The cache holds a slot until that time, in seconds.
function M.ready(slot, til)
  local left = til - ngx.now()
  if left > 0 then pages:set(slot, 0, left, READY) else pages:delete(slot) end
end

-- A good page may be shown while PHP fails.
function M.keep_last(key)
  pages:set("l" .. key, 0, LAST_FOR)
end

function M.has_last(key)
  return pages:get("l" .. key) ~= nil
end

function M.pass(key)
  pages:set(key, 0, PASSING_FOR, PASSING)
end

-- PHP failed. Pages that are still in the cache stay.
function M.failed(key, keeps_last)
  local _, flag = pages:get(key)
  if flag == READY then return end
  if keeps_last and M.has_last(key) then
    pages:set(key, 0, FAILING_FOR, FAILING)
  else
    pages:set(key, 0, PASSING_AFTER_ERROR, PASSING)
  end
end

-- The answer of PHP broke off.
function M.forget(slot)
  pages:delete(slot)
end

-- A maker's request ended; if it never reached PHP, another visitor may try.
function M.release(key, token)
  for _, slot in ipairs({ key, key .. "br", key .. "plain" }) do
    local value, flag = pages:get(slot)
    if flag == MAKING and value == token then pages:delete(slot) end
  end
end

-- Counts what an install adds to the cache.
function M.count_stored(id, bytes)
  pages:incr("s" .. id, math.max(bytes, LEAST_BYTES), 0, STORING_WINDOW)
end

-- Makes all pages of these paths anew, under every name and with every query. An eviction could bring a purged page back, so it
-- purges all pages of all installs.
function M.purge(id, paths)
  for _, path in ipairs(paths) do
    local ok, err, evicted = purges:set(id .. path_of(path), numbers.next(), PURGED_FOR)
    if not ok then error("cannot purge: " .. err) end
    if evicted then numbers.renew("pages") end
  end
end

return M
