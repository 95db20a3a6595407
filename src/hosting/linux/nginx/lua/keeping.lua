-- Decides whether and how long the cache keeps an answer of PHP. The Lua copy of policy/page-keeping.ts, which explains the rules;
-- a test compares both.
local M = {}

local BRIEF = 10
local PAGE, REPLY = 1, 2
local KINDS = {
  [200] = PAGE, [203] = PAGE,
  [301] = REPLY, [302] = REPLY, [307] = REPLY, [308] = REPLY, [404] = REPLY, [410] = REPLY,
}
local LONGEST_HEADER = 1000

local ANSWERED = {}
for name in ([[accept accept-encoding authorization cookie hx-request last-event-id origin turbo-frame x-api-key x-auth-token
    x-forwarded-proto x-inertia x-pjax x-requested-with x-wp-nonce]]):gmatch("%S+") do ANSWERED[name] = true end

local find, lower, match = string.find, string.lower, string.match

local function listed(value)
  local parts = {}
  for part in value:gmatch("[^,]+") do
    part = match(part, "^%s*(.-)%s*$")
    if part ~= "" then parts[#parts + 1] = part end
  end
  return parts
end

function M.vary_without_encoding(vary)
  local names = {}
  for _, name in ipairs(listed(vary)) do
    if lower(name) ~= "accept-encoding" then names[#names + 1] = name end
  end
  return table.concat(names, ", ")
end

local function is_shared(answer)
  if answer.sets_cookie or (answer.content_encoding or "") ~= "" then return false end
  if lower(answer.x_accel_buffering or "") == "no" then return false end
  for _, name in ipairs(listed(answer.vary or "")) do
    if not ANSWERED[lower(name)] then return false end
  end
  return true
end

local function is_page_type(value)
  local kind = lower(value or "")
  if find(kind, "^text/") then return not find(kind, "^text/event%-stream") end
  if find(kind, "^image/") or find(kind, "^font/") then return true end
  local subtype, rest = match(kind, "^application/([a-z0-9.+-]*)(.?)")
  if not subtype or (rest ~= "" and rest ~= " " and rest ~= ";") then return false end
  return find(subtype, "json$") ~= nil or find(subtype, "xml$") ~= nil
    or subtype == "javascript" or subtype == "x-javascript"
end

local function is_small(answer)
  local length = answer.content_length
  if not length then return is_page_type(answer.content_type) end
  return #length <= 7 and find(length, "^%d+$") ~= nil
end

-- Directives of Cache-Control by name; the first of equal names counts.
local function directives_of(value)
  local directives = {}
  for _, part in ipairs(listed(lower(value or ""))) do
    local name, argument = match(part, "^(.-)%s*=%s*([^=]*)")
    name = name or part
    if directives[name] == nil then directives[name] = match(argument or "", "^(.-)%s*$") end
  end
  return directives
end

local function seconds_in(value)
  local digits = match(value or "", '^"?(%d+)"?$')
  return digits and #digits <= 15 and tonumber(digits) or nil
end

local function accel_seconds(value, now)
  local at, digits = match(value or "", "^(@?)(%d+)$")
  if not digits or #digits > 15 then return nil end
  return at == "@" and tonumber(digits) - math.floor(now / 1000) or tonumber(digits)
end

local function stated_seconds(answer, directives, now)
  local accelerated = accel_seconds(answer.x_accel_expires, now)
  if accelerated then return accelerated end
  if directives["no-cache"] or directives["no-store"] or directives["private"] then return 0 end
  local age = seconds_in(directives["s-maxage"]) or seconds_in(directives["max-age"])
  if age then return age end
  if answer.expires_at == nil then return nil end
  return answer.expires_at == false and 0 or math.floor((answer.expires_at - now) / 1000)
end

-- Seconds fresh, seconds stale, whether a failure may show it, and whether it is brief; or nil if the answer is not kept.
-- `expires_at` and `now` are in milliseconds; false for a date that cannot be read. `seconds`: a page is at most this old.
function M.of(answer, now, seconds)
  local kind = KINDS[answer.status]
  local updating = math.floor(seconds / 3)
  local most = kind == REPLY and math.min(BRIEF, seconds - updating) or seconds - updating
  -- Before any pattern, which could take seconds.
  if #(answer.cache_control or "") > LONGEST_HEADER or #(answer.vary or "") > LONGEST_HEADER then return nil end
  if not kind or not is_shared(answer) or not is_small(answer) then return nil end
  local directives = directives_of(answer.cache_control)
  local fresh = math.min(most, stated_seconds(answer, directives, now) or most)
  if fresh < 1 then return nil end
  if kind == REPLY or directives["must-revalidate"] or directives["proxy-revalidate"] then
    return fresh, 0, false, kind == REPLY
  end
  local stale = updating - 1
  return fresh, math.min(stale, seconds_in(directives["stale-while-revalidate"]) or stale), true, false
end

return M
