-- What an install adds to the rules of the page cache. The same rules as policy/cache-rules.ts; both run its cases.
local M = {}

local find, sub = string.find, string.sub

local compiled = setmetatable({}, { __mode = "k" })

local function compile(pages)
  local rules = { exact = {}, prefix = {}, cookies = {}, beginnings = {}, parameters = {}, longest = 0 }
  for _, rule in ipairs(pages.uncachedPaths) do
    local path = rule.path:gsub("/+$", "")
    rules[rule.match][path] = true
    if rule.match == "prefix" then rules.longest = math.max(rules.longest, #path) end
  end
  for _, name in ipairs(pages.bypassCookies) do
    if sub(name, -1) == "*" then
      rules.beginnings[#rules.beginnings + 1] = sub(name, 1, -2)
    else
      rules.cookies[name] = true
    end
  end
  for _, name in ipairs(pages.ignoredParameters) do rules.parameters[name] = true end
  return rules
end

function M.of(row)
  local rules = compiled[row]
  if not rules then
    rules = compile(row.pages)
    compiled[row] = rules
  end
  return rules
end

-- Whether an install has rules that requests are compared with.
function M.exist(row)
  local pages = row.pages
  return #pages.uncachedPaths + #pages.bypassCookies + #pages.ignoredParameters > 0
end

-- `path`: decoded, without a final slash; "" for the home page.
function M.is_uncached(rules, path)
  if rules.exact[path] or rules.prefix[""] then return true end
  -- A visitor's path may have thousands of segments.
  if #path > rules.longest then path = sub(path, 1, rules.longest + 1):match("^(.+)/[^/]*$") end
  while path do
    if rules.prefix[path] then return true end
    path = path:match("^(.+)/[^/]*$")
  end
  return false
end

-- Whether a Cookie header has one of the cookies, as PHP names them.
function M.has_cookie(rules, header)
  if not header or (#rules.beginnings == 0 and next(rules.cookies) == nil) then return false end
  for name in (header .. ";"):gmatch("%s*([^=;]*)[^;]*;") do
    name = name:gsub("[ .%[]", "_")
    if rules.cookies[name] then return true end
    for _, beginning in ipairs(rules.beginnings) do
      if sub(name, 1, #beginning) == beginning then return true end
    end
  end
  return false
end

return M
