-- The parts of a page's key: the address without campaign parameters, and the variant for a visitor. Nothing here asks nginx, so
-- that tests compare it with policy/campaign-parameters.ts.
local M = {}

local find, sub, lower = string.find, string.sub, string.lower

local names, prefix = {}, nil

-- Takes the list of parameters from the settings.
function M.configure(parameters, with_prefix)
  for _, name in ipairs(parameters) do names[name] = true end
  prefix = with_prefix
end

local function is_campaign(parameter)
  local name = parameter:match("^[^=]*")
  return names[name] ~= nil or sub(name, 1, #prefix) == prefix
end

-- Path and query without campaign parameters; these joined by "&", or "".
function M.split(uri)
  local mark = find(uri, "?", 1, true)
  if not mark then return uri, "" end
  local campaign, others = {}, {}
  for parameter in (sub(uri, mark + 1) .. "&"):gmatch("([^&]*)&") do
    local into = is_campaign(parameter) and campaign or others
    into[#into + 1] = parameter
  end
  if #campaign == 0 then return uri, "" end
  local path = sub(uri, 1, mark - 1)
  if #others > 0 then path = path .. "?" .. table.concat(others, "&") end
  return path, table.concat(campaign, "&")
end

local function is_on_host(location, host)
  if find(location, "^/") then return not find(location, "^/[/\\]") end
  local scheme, authority = location:match("^(%a+)://([^/?#\\]*)")
  scheme = scheme and lower(scheme)
  return (scheme == "http" or scheme == "https") and lower(authority) == host
end

-- A redirect's target with the visitor's campaign parameters, if it stays on the host.
function M.with_campaign(location, host, campaign)
  if campaign == "" or not is_on_host(location, host) then return location end
  local hash = find(location, "#", 1, true) or #location + 1
  local target = sub(location, 1, hash - 1)
  return target .. (find(target, "?", 1, true) and "&" or "?") .. campaign .. sub(location, hash)
end

local function accepts(header, coding)
  for part in (header .. ","):gmatch("%s*([^,]*),") do
    local name, parameters = part:match("^([%w*-]+)%s*(.*)$")
    if name == coding then return not find(parameters, "q%s*=%s*0%.?0*%s*$") end
  end
  return false
end

-- Browsers send few different headers, so the answers are remembered, up to a number that no client can exceed.
local MOST_REMEMBERED = 200
local remembered, count = {}, 0

-- "br", "gzip" or "" for the value of Accept-Encoding.
function M.variant(header, brotli)
  if not header or header == "" then return "" end
  local known = remembered[header]
  if known then return known end
  local value = lower(header)
  local variant = (brotli and accepts(value, "br") and "br") or (accepts(value, "gzip") and "gzip") or ""
  if count >= MOST_REMEMBERED then remembered, count = {}, 0 end
  if #header <= 256 then remembered[header], count = variant, count + 1 end
  return variant
end

return M
