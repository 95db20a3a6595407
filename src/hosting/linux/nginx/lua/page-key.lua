-- The parts of a page's key: the address without campaign parameters, and the variant for a visitor. Nothing here asks nginx, so
-- that tests compare it with policy/campaign-parameters.ts and policy/personal-pages.ts.
local M = {}

local find, sub, lower = string.find, string.sub, string.lower

local names, prefix = {}, nil
local personal_segments, personal_parameter = {}, nil

-- Takes the lists of the settings.
function M.configure(campaign_parameters, campaign_prefix, segments, parameter)
  for _, name in ipairs(campaign_parameters) do names[name] = true end
  prefix = campaign_prefix
  for place, segment in ipairs(segments) do personal_segments[place] = "/" .. segment .. "/" end
  personal_parameter = parameter
end

local function percent_decoded(text)
  if not find(text, "%", 1, true) then return text end
  return (text:gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end

-- The name of a query parameter as PHP reads it, see policy/query-names.ts.
local function php_name(parameter)
  local name = parameter:match("^[^=]*")
  if not find(name, "[^%w_-]") then return name end
  name = percent_decoded(name:gsub("%+", " "))
  local ends = find(name, "\0", 1, true)
  if ends then name = sub(name, 1, ends - 1) end
  return (name:gsub("^ +", ""):gsub("[ .]", "_"))
end

local function is_campaign(parameter, ignored)
  local name = php_name(parameter)
  return names[name] ~= nil or (ignored ~= nil and ignored[name] ~= nil) or (sub(name, 1, #prefix) == prefix and not find(name, "[", 1, true))
end

-- A path as purges name it: decoded, without query, doubled and final slashes.
function M.path_of(uri)
  local path = percent_decoded(uri:match("^[^?#]*")):gsub("//+", "/")
  local last = #path
  while last > 0 and path:byte(last) == 47 do last = last - 1 end
  return sub(path, 1, last)
end

function M.has_query(uri)
  return find(uri, "?", 1, true) ~= nil
end

-- Whether every answer at this address may be individual.
function M.is_personal(uri)
  local mark = find(uri, "?", 1, true)
  local path = lower(percent_decoded(mark and sub(uri, 1, mark - 1) or uri)) .. "/"
  for _, segment in ipairs(personal_segments) do
    if find(path, segment, 1, true) then return true end
  end
  if not mark then return false end
  for parameter in sub(uri, mark + 1):gmatch("[^&]+") do
    local name = php_name(parameter):gsub("%[", "_")
    if sub(name, 1, #personal_parameter) == personal_parameter then return true end
  end
  return false
end

-- Path and query without campaign parameters; these joined by "&", or "". `ignored`: further names, as keys.
function M.split(uri, ignored)
  local mark = find(uri, "?", 1, true)
  if not mark then return uri, "" end
  local campaign, others = {}, {}
  for parameter in (sub(uri, mark + 1) .. "&"):gmatch("([^&]*)&") do
    local into = is_campaign(parameter, ignored) and campaign or others
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
