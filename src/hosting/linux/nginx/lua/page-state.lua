-- Which pages the cache holds, and who makes the others. A page's key contains the numbers of its install's and its path's last
-- purge, so a purge makes other keys: what PHP was making meanwhile is never found again.
local ffi = require "ffi"
local lrucache = require "resty.lrucache"
local numbers = require "numbers"
local page_key = require "page-key"
local page_share = require "page-share"
local rows = require "rows"
local settings = require "settings"

ffi.cdef [[ int kill(int pid, int signal); ]]

local state = ngx.shared.edge_state
local pages = ngx.shared.edge_pages
local purges = ngx.shared.edge_purges

-- What is known about a key: PHP makes it; the cache holds it; it is not cacheable; PHP fails, and the last page is shown.
local MAKING, READY, PASSING, FAILING = 1, 2, 3, 4

-- Seconds.
local MAKING_FOR = 30
local PASSING_WITHOUT_ROOM = 60
local PASSING_AFTER_ERROR = 1
-- How long a page is not made again for the cache: PHP shows it to each visitor.
local UNKEPT_FOR = 3600
local FAILING_FOR = 5
local LAST_FOR = 3600
-- How long it is known that PHP failed to make a page that nobody asked for since.
local ERROR_FOR = 3600
local MOST_WAIT = 20
local MOST_WAIT_WITH_LAST = 5
local FIRST_PAUSE, LONGEST_PAUSE = 0.005, 0.05
-- Longer than any page of before can be shown.
local PURGED_FOR = LAST_FOR + 600

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

-- The key of a purged path. All have one length, so that long paths take no more memory.
local function purge_key(id, path)
  return id .. ngx.md5(page_key.path_of(path))
end

-- Pages that this worker was asked for, with their last keys.
local MOST_KNOWN, LONGEST_KNOWN = 1000, 512
local known = assert(lrucache.new(MOST_KNOWN))

local function slot_of(key, variant)
  return variant == "gzip" and key or key .. (variant == "" and "plain" or variant)
end
M.slot_of = slot_of

-- The key of a page, and the slots of its variants; "gzip" is the page itself.
local function key_of(page)
  local own, purged = numbers.of(page.purges), purges:get(page.path) or 0
  if page.own == own and page.purged == purged then return page.key end
  -- Lua itself would write these numbers with too few digits.
  local versions = ("%.0f %.0f"):format(own, purged)
  page.own, page.purged = own, purged
  page.key = page.id .. ngx.md5(start .. " " .. versions .. " " .. page.where)
  page.slots = { gzip = page.key, br = slot_of(page.key, "br"), [""] = slot_of(page.key, "") }
  return page.key
end

-- A page for `enter`. `where`: scheme, host and address.
function M.page(id, uri, where)
  local page = known:get(where)
  -- The name may have moved to another install.
  if page and page.id == id then return page end
  page = {
    id = id,
    path = purge_key(id, uri),
    where = where,
    purges = "g" .. id,
    personal = page_key.is_personal(uri),
    query = page_key.has_query(uri),
  }
  if #where <= LONGEST_KNOWN then known:set(where, page) end
  return page
end

-- What is known about the variant of a page, and the slot that it is about. Most often the variant is ready; then its page is, too.
local function look(key, slot)
  local _, flag = pages:get(slot)
  if flag == READY or slot == key then return flag, slot end
  local _, flag_of_page = pages:get(key)
  if flag_of_page == READY then return flag, slot end
  return flag_of_page, key
end

-- Becomes the maker of a slot, or returns nil if another visitor is.
local function claim(key, slot, variant)
  local token = ("%d %.0f"):format(ngx.worker.pid(), numbers.next())
  if not pages:add(slot, token, MAKING_FOR, MAKING) then return nil end
  local own = slot_of(key, variant)
  if slot == key and own ~= slot then pages:set(own, token, MAKING_FOR, MAKING) end
  return token
end

-- Whether the maker of a slot was lost with its worker. Signal 0 only asks for the process, which has this one's user.
local function is_lost(slot)
  local token, flag = pages:get(slot)
  local pid = flag == MAKING and tonumber(token:match("^%d+"))
  return pid and ffi.C.kill(pid, 0) ~= 0
end

-- Counts a visitor who waits: for this slot, at the install, and from the address block at the install. False if too many do.
local function join(waiting, slot, id, block)
  local most = settings.mostWaiters
  for counter, limit in pairs({
    ["w" .. slot] = most.page,
    ["w" .. id] = most.install,
    ["w" .. id .. " " .. block] = most.address,
  }) do
    waiting[#waiting + 1] = counter
    -- A worker that is killed takes its visitors' counts along until these expire.
    if (pages:incr(counter, 1, 0, MAKING_FOR + MOST_WAIT) or 0) > limit then return false end
  end
  return true
end

-- Remembers one purged path; false if the install's share of the memory, or all of it, is used. Nothing else is ever evicted,
-- because that could bring a purged page back.
local function remember(id, key)
  if not purges:get(key) and (state:incr("p" .. id, 1, 0, PURGED_FOR) or 0) > settings.mostPurgedPaths then return false end
  local ok, err = purges:safe_set(key, numbers.next(), PURGED_FOR)
  if not ok and err ~= "no memory" then error("cannot purge: " .. err) end
  return ok
end

-- Makes all pages of an install anew.
function M.purge_all(id)
  numbers.renew("g" .. id)
end

-- Gives a page another key, because nginx's lock of this one is lost, too. Only one visitor does.
local function replace(page, key)
  if not pages:add("r" .. key, 0, MAKING_FOR) then return end
  if not remember(page.id, page.path) then M.purge_all(page.id) end
end

local OUTCOMES = { [READY] = "page", [PASSING] = "pass", [FAILING] = "last" }

local function enter(page, variant, host, var, waiting)
  local entry = rows.find(host)
  -- The name was removed a moment ago.
  if not entry then return "", "gone" end
  local rules, block = entry.row.pages, var.client_block
  local waited, pause = 0, FIRST_PAUSE
  while true do
    local key = key_of(page)
    local flag, slot = look(key, page.slots[variant])
    if OUTCOMES[flag] then return key, OUTCOMES[flag] end
    if flag == nil then
      if not page_share.has_room(page, key, rules.mostBytes, block) then return key, "pass" end
      -- PHP would not see these cookies, and its answer is probably for this visitor alone.
      if pages:get("u" .. key) and var.http_cookie then return key, "pass" end
      local token = claim(key, slot, variant)
      if token then return key, "page", token end
    end
    if waited >= MOST_WAIT_WITH_LAST and rules.staleIfError and M.has_last(key) then return key, "last" end
    if waited >= MOST_WAIT then return key, "page" end
    if #waiting == 0 and not join(waiting, slot, page.id, block) then return key, "busy" end
    if is_lost(slot) then replace(page, key) end
    ngx.sleep(pause)
    waited = waited + pause
    pause = math.min(pause * 1.5, LONGEST_PAUSE)
  end
end

-- Decides how a visitor gets the variant of a page, and waits while another visitor makes it. `var`: the request's variables.
-- Returns the key and
--   "page": from the cache, or make it; then with the maker's token
--   "pass": from PHP, without the cache
--   "last": the last page, without PHP
--   "busy": too many wait
--   "gone": the name has no website any more.
function M.enter(page, variant, host, var)
  local key = key_of(page)
  local outcome = OUTCOMES[look(key, page.slots[variant])]
  if outcome then return key, outcome end
  local waiting = {}
  local ok, found, how, token = pcall(enter, page, variant, host, var, waiting)
  for _, counter in ipairs(waiting) do pages:incr(counter, -1) end
  if not ok then error(found, 0) end
  return found, how, token
end

-- Whether the cache answers a page, or PHP last failed to make it.
function M.answers(page, variant)
  local key = key_of(page)
  return OUTCOMES[look(key, page.slots[variant])] == "page" or pages:get("e" .. key) ~= nil
end

-- The cache holds a slot until that time, in seconds.
function M.ready(slot, til)
  local left = til - ngx.now()
  if left > 0 then pages:set(slot, 0, left, READY) else pages:delete(slot) end
end

-- PHP made a page that is kept.
function M.kept(key)
  pages:delete("u" .. key)
  pages:delete("e" .. key)
end

-- A good page may be shown while PHP fails.
function M.keep_last(key)
  pages:set("l" .. key, 0, LAST_FOR)
end

function M.has_last(key)
  return pages:get("l" .. key) ~= nil
end

-- PHP's answer is not for the cache. If it refuses the visitor, perhaps for the address, others may make the page, but visitors
-- with cookies, which PHP would not see, do not.
function M.unkept(key, status)
  pages:delete("e" .. key)
  if status < 400 then
    pages:set(key, 0, UNKEPT_FOR, PASSING)
  else
    pages:set(key, 0, PASSING_AFTER_ERROR, PASSING)
    pages:set("u" .. key, 0, UNKEPT_FOR)
  end
end

-- The install has no room for the answer.
function M.without_room(key)
  pages:set(key, 0, PASSING_WITHOUT_ROOM, PASSING)
end

-- PHP failed. Pages that are still in the cache stay.
function M.failed(key, keeps_last)
  pages:set("e" .. key, 0, ERROR_FOR)
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

-- Makes all pages of these paths anew, under every name and with every query. If they cannot be remembered, all pages of the install.
function M.purge(id, paths)
  for _, path in ipairs(paths) do
    if not remember(id, purge_key(id, path)) then return M.purge_all(id) end
  end
end

return M
