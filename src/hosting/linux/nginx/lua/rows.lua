-- Finds the row of a host name. Each worker keeps a bounded number of parsed rows, and of names without one. An entry counts only if
-- the numbers are those from before its file was read.
local cjson = require "cjson.safe"
local lrucache = require "resty.lrucache"
local numbers = require "numbers"
local settings = require "settings"

local state = ngx.shared.edge_state
local find = string.find
local ENOENT = 2

local known, unknown

local M = { null = cjson.null }

function M.init_worker()
  local workers = ngx.worker.count()
  known = assert(lrucache.new(math.max(1, math.floor(settings.mostRows / workers))))
  unknown = assert(lrucache.new(settings.mostUnknownNames))
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

-- An entry; or nil and the number of names, if no row has the name.
local function load(host)
  local names = numbers.of("names")
  local text = read(host)
  if not text then return nil, names end
  local id = text:match('^{"version":1,"id":"([0-9a-f-]+)"')
  if not id then unreadable(host) end
  local version = numbers.of("i" .. id)
  -- Again, because the row may have changed before its number was known.
  text = read(host)
  if not text then return nil, names end
  local row = cjson.decode(text)
  if type(row) ~= "table" or row.id ~= id or type(row.names) ~= "table" then unreadable(host) end
  if type(row.root) ~= "string" or type(row.home) ~= "string" or type(row.revision) ~= "string" then unreadable(host) end
  -- A link may lead to a row that no longer has the name. That is not remembered, because the next row may have it again.
  local name = row.names[host]
  if not name then return nil end
  return { row = row, name = name, key = "i" .. id, version = version, names = names }
end

local function exact(host)
  local entry = known:get(host)
  if entry and state:get(entry.key) == entry.version and state:get("names") == entry.names then return entry end
  local names = unknown:get(host)
  if names and names == state:get("names") then return nil end
  entry, names = load(host)
  if entry then
    known:set(host, entry)
    return entry
  end
  known:delete(host)
  if names then unknown:set(host, names) end
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
