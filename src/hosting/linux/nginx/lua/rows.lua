-- Finds the row of a host name. Each worker keeps a bounded number of parsed rows, of names without one, and of failures. An entry
-- counts only if the numbers are those from before its file was read.
local cjson = require "cjson.safe"
local lrucache = require "resty.lrucache"
local numbers = require "numbers"
local settings = require "settings"

local state = ngx.shared.edge_state
local find = string.find
local ENOENT = 2

-- Seconds.
local FAILED_FOR = 1
-- A name that moves more often while it is read is taken for a broken row.
local MOST_MOVES = 5

local known, unknown, failed

local M = { null = cjson.null }

function M.init_worker()
  local workers = ngx.worker.count()
  known = assert(lrucache.new(math.max(1, math.floor(settings.mostRows / workers))))
  unknown = assert(lrucache.new(settings.mostUnknownNames))
  failed = assert(lrucache.new(settings.mostUnknownNames))
end

-- Nil if there is no such file.
local function read(host)
  local file, err, code = io.open(settings.names .. host, "rb")
  if not file then
    if code == ENOENT then return nil end
    error("the row of " .. host .. " cannot be opened: " .. err, 0)
  end
  local text = file:read("*a")
  file:close()
  return text
end

local function unreadable(host)
  error("the row of " .. host .. " cannot be read", 0)
end

-- An entry, without `name` if its row does not have the name; nil if there is no row; false if the name has moved meanwhile.
local function load_once(host, names)
  local text = read(host)
  if not text then return nil end
  local id = text:match('^{"version":1,"id":"([0-9a-f-]+)"')
  if not id then unreadable(host) end
  local version = numbers.of("i" .. id)
  -- Again, because the row may have changed before its number was known.
  text = read(host)
  if not text then return nil end
  local row = cjson.decode(text)
  if type(row) ~= "table" or type(row.names) ~= "table" then unreadable(host) end
  if row.id ~= id then return false end
  if type(row.root) ~= "string" or type(row.home) ~= "string" or type(row.revision) ~= "string" then unreadable(host) end
  -- A link may lead to a row that no longer has the name. The next row of that install may have it again.
  return { row = row, name = row.names[host], key = "i" .. id, version = version, names = names }
end

-- The same, again while the name moves.
local function load(host, names)
  for _ = 1, MOST_MOVES do
    local entry = load_once(host, names)
    if entry ~= false then return entry end
  end
  unreadable(host)
end

-- Like `load`. A failure counts until any row or name changes, because a broken row may not tell whose it is.
local function load_or_fail(host)
  local names, changed = numbers.of("names"), numbers.of("rows")
  local failure = failed:get(host)
  if failure and failure.names == names and failure.changed == changed then error(failure.message, 0) end
  local ok, entry = pcall(load, host, names)
  if not ok then
    failed:set(host, { names = names, changed = changed, message = entry }, FAILED_FOR)
    error(entry, 0)
  end
  return entry, names
end

local function exact(host)
  local entry = known:get(host)
  if entry and state:get(entry.key) == entry.version and state:get("names") == entry.names then
    return entry.name and entry
  end
  local names = unknown:get(host)
  if names and names == state:get("names") then return nil end
  entry, names = load_or_fail(host)
  if entry then
    known:set(host, entry)
    return entry.name and entry
  end
  known:delete(host)
  unknown:set(host, names)
  return nil
end

-- Nil for a name without a website. Throws if the row cannot be read.
function M.find(host)
  if not host or host == "" or #host > 253 or find(host, "[^a-z0-9._-]") or find(host, "^%.") then return nil end
  local entry = exact(host)
  if entry then return entry end
  local dot = find(host, ".", 1, true)
  return dot and exact("*" .. host:sub(dot)) or nil
end

return M
