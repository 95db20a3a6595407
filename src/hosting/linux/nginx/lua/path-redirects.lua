-- Redirect rules of an install for paths. The same rules as policy/path-redirects.ts; both run policy/path-redirects.fixture.ts.
local M = {}

-- Bytes of the longest path that patterns are compared with. nginx also limits the steps of each comparison.
local LONGEST_MATCHED = 1024

local function without_slash(path)
  if #path > 1 then path = path:gsub("/+$", "") end
  return path ~= "" and path or "/"
end

local function compile(redirects)
  local rules = { exact = {}, prefix = {}, patterns = {}, list = redirects, longest_prefix = 0 }
  for place, rule in ipairs(redirects) do
    if rule.match == "regex" then
      rules.patterns[#rules.patterns + 1] = place
    else
      local from = without_slash(rule.from)
      local of = rule.match == "prefix" and rules.prefix or rules.exact
      of[from] = of[from] or place
      if rule.match == "prefix" then rules.longest_prefix = math.max(rules.longest_prefix, #from) end
    end
  end
  return rules
end

-- By row, which changes with its rules.
local compiled = setmetatable({}, { __mode = "k" })

local function rules_of(row)
  local rules = compiled[row]
  if not rules then
    rules = compile(row.redirects)
    compiled[row] = rules
  end
  return rules
end

-- Everything but RFC 3986's unreserved characters, sub-delims, ":", "@" and "/", so that no path becomes a host or a header.
local function encoded(path)
  return (path:gsub("[^%w%-._~!$&'()*+,;=:@/]", function(character)
    return ("%%%02X"):format(character:byte())
  end))
end

local function with_query(target, args)
  if not args or args == "" then return target end
  local before, fragment = target:match("^([^#]*)(.*)$")
  return before .. (before:find("?", 1, true) and "&" or "?") .. args .. fragment
end

-- The target of a prefix with the rest of the path.
local function joined(target, rest)
  if rest == "" then return target end
  local before, after = target:match("^([^?#]*)(.*)$")
  return before:gsub("/+$", "") .. encoded(rest) .. after
end

-- The target of a pattern with its groups. A group never makes another host of a path.
local function substituted(target, groups)
  target = target:gsub("%$(%d)", function(digit) return encoded(groups[tonumber(digit)] or "") end)
  return target:sub(1, 2) == "//" and target:gsub("^/+", "/") or target
end

-- The length of the next shorter path above `uri`, or below 1.
local function above(uri, length)
  repeat length = length - 1 until length < 1 or uri:byte(length + 1) == 47
  return length
end

-- The place of the first rule for a prefix of the path, and the rest after it. A visitor's path may have thousands of segments.
local function first_prefix(rules, uri)
  if rules.longest_prefix == 0 then return nil end
  local place, rest = rules.prefix["/"], uri
  local length = #uri
  if length > rules.longest_prefix then length = above(uri, rules.longest_prefix + 1) end
  while length > 1 do
    local found = rules.prefix[uri:sub(1, length)]
    if found and (not place or found < place) then place, rest = found, uri:sub(length + 1) end
    length = above(uri, length)
  end
  return place, rest
end

-- The target and the status of the install's redirect for this path; nil without one. The first rule that matches counts.
function M.find(row, uri, args)
  if #row.redirects == 0 then return nil end
  local rules = rules_of(row)
  local place, rest = first_prefix(rules, uri)
  local exact = rules.exact[without_slash(uri)]
  if exact and (not place or exact < place) then place, rest = exact, nil end
  local rule, target = place and rules.list[place], nil
  if #uri <= LONGEST_MATCHED then
    for _, other in ipairs(rules.patterns) do
      if place and other > place then break end
      -- Nil also for a path that is not UTF-8, and after too many steps.
      local groups = ngx.re.match(uri, rules.list[other].from, "jous")
      if groups then
        rule, target = rules.list[other], substituted(rules.list[other].to, groups)
        break
      end
    end
  end
  if not rule then return nil end
  target = target or (rest and joined(rule.to, rest)) or rule.to
  return rule.keepQuery and with_query(target, args) or target, rule.status
end

return M
