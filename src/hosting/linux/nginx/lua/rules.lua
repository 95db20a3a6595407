-- Rules of an install about paths: files that no visitor may see, and logins. Compiled once for each row.
local M = {}

-- `deny` has four forms: "/a/b" a path and everything below, "debug.log" a file name, "*.sql" the end of a file name, and
-- "/a/*.zip" the end of a file name in one folder. File names are compared without case.
local function compile_deny(patterns)
  local deny = { paths = {}, names = {}, endings = {}, count = #patterns, longest_path = 0, longest_ending = 0 }
  for _, pattern in ipairs(patterns) do
    local folder, ending = pattern:match("^(.*/)%*(%.[^/]+)$")
    if not folder and pattern:sub(1, 2) == "*." then folder, ending = "", pattern:sub(2) end
    if folder then
      deny.endings[folder .. ending:lower()] = true
      deny.longest_ending = math.max(deny.longest_ending, #ending)
    elseif pattern:sub(1, 1) == "/" then
      -- "/a/" is "/a".
      deny.paths[#pattern > 1 and pattern:gsub("/+$", "") or pattern] = true
      deny.longest_path = math.max(deny.longest_path, #pattern)
    else
      deny.names[pattern:lower()] = true
    end
  end
  return deny
end

local compiled = setmetatable({}, { __mode = "k" })

local function rules_of(row)
  local rules = compiled[row]
  if not rules then
    rules = { deny = compile_deny(row.deny) }
    compiled[row] = rules
  end
  return rules
end

-- The path without its last segment: "/a/b" is "/a", and "/a" is "/".
local function parent(path)
  local above = path:match("^(.+)/[^/]*$")
  return above or (path ~= "/" and "/" or nil)
end

-- The longest path that is `uri` or above it, and no longer than `most`. A visitor's path may have thousands of segments.
local function shortened(uri, most)
  if #uri <= most then return uri end
  return most > 0 and parent(uri:sub(1, most + 1)) or nil
end

-- Whether visitors get 404 for this path. `uri`: decoded and normalised.
function M.is_denied(row, uri)
  local deny = rules_of(row).deny
  if deny.count == 0 then return false end
  local path = shortened(uri, deny.longest_path)
  while path do
    if deny.paths[path] then return true end
    path = parent(path)
  end
  local folder, name = uri:match("^(.*/)([^/]*)$")
  if not folder or name == "" then return false end
  name = name:lower()
  if deny.names[name] then return true end
  local dot = name:find(".", math.max(1, #name - deny.longest_ending + 1), true)
  while dot do
    local ending = name:sub(dot)
    if deny.endings[ending] or deny.endings[folder .. ending] then return true end
    dot = name:find(".", dot + 1, true)
  end
  return false
end

-- Whether the path is that of a hidden file. RFC 8615's folder at the top is not hidden.
function M.is_hidden(uri)
  local from = uri:find("/.", 1, true)
  if not from then return false end
  if from > 1 then return true end
  if uri:sub(1, 12) ~= "/.well-known" or (#uri > 12 and uri:byte(13) ~= 47) then return true end
  return uri:find("/.", 2, true) ~= nil
end

-- nginx runs the program in any folder.
local function program_of(uri)
  return uri:match("/([^/]+%.php)$") or uri:match("/([^/]+%.php)/")
end

function M.is_xmlrpc(uri)
  return program_of(uri) == "xmlrpc.php"
end

-- What kind of login a request attempts: "login", "xmlrpc", "postpass" for the password of a single post, or nil. PHP obeys this
-- query, and no action in the body (wordpress/php/settings.php).
function M.login_kind(method, uri, args)
  if method ~= "POST" then return nil end
  local program = program_of(uri)
  if program == "wp-login.php" then return args == "action=postpass" and "postpass" or "login" end
  if program == "xmlrpc.php" then return "xmlrpc" end
  return nil
end

return M
