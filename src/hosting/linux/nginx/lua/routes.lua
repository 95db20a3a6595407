-- Finds where the names of other hosts' websites are served. Entries count while the number of all routes is the one from before
-- their file was read.
local cjson = require "cjson.safe"
local lrucache = require "resty.lrucache"
local numbers = require "numbers"
local settings = require "settings"

local state = ngx.shared.edge_state
local ENOENT = 2
local MOST_EDGES = 1000

local known, unknown, edges

local M = {}

function M.init_worker()
  known = assert(lrucache.new(math.max(1, math.floor(settings.mostRows / ngx.worker.count()))))
  unknown = assert(lrucache.new(settings.mostUnknownNames))
  edges = assert(lrucache.new(MOST_EDGES))
end

-- The table in a file; nil if there is no such file.
local function read(path)
  local file, err, code = io.open(path, "rb")
  if not file then
    if code == ENOENT then return nil end
    error(path .. " cannot be opened: " .. err, 0)
  end
  local text = file:read("*a")
  file:close()
  local value = text and cjson.decode(text)
  if type(value) ~= "table" then error(path .. " cannot be read", 0) end
  return value
end

-- The edge of the host with that id; nil if it is not among the others of the fleet.
function M.edge(id)
  local entry = edges:get(id)
  if entry and entry.version == state:get("routes") then return entry.edge end
  local version = numbers.of("routes")
  local edge = read(settings.edges .. id .. ".json")
  edges:set(id, { edge = edge, version = version })
  return edge
end

local function load(name)
  local route = read(settings.routes .. name)
  -- A link may lead to a route that no longer has the name.
  local served = route and type(route.names) == "table" and route.names[name]
  local edge = served and M.edge(route.hostId)
  return edge and { edge = edge, certificate = served.certificate, install = route.id }
end

local function exact(name)
  local entry = known:get(name)
  if entry and entry.version == state:get("routes") then return entry end
  local missed = unknown:get(name)
  if missed and missed == state:get("routes") then return nil end
  local version = numbers.of("routes")
  entry = load(name)
  if not entry then
    known:delete(name)
    unknown:set(name, version)
    return nil
  end
  entry.version = version
  known:set(name, entry)
  return entry
end

-- The route of a host name; nil for a name that no other host serves. `own`: the entry of the name in this host's rows, if any. An exact
-- name goes before a wildcard, and this host's own name before a route of the same name.
function M.find(host, own)
  if own and own.row.names[host] then return nil end
  if not host or host == "" or #host > 253 or host:find("[^a-z0-9._-]") or host:find("^%.") then return nil end
  local route = exact(host)
  if route or own then return route end
  local dot = host:find(".", 1, true)
  return dot and exact("*" .. host:sub(dot)) or nil
end

return M
