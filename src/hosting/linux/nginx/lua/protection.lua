-- Asks visitors of a protected website for a name and a password (RFC 7617).
local addresses = require "addresses"
local lrucache = require "resty.lrucache"
local passwords = require "passwords"

local M = {}

-- Computing a hash keeps a worker busy for milliseconds. So failures are limited by address block, and computations by install
-- and in total.
local FAILURES = 10
local FAILURES_SECONDS = 60
local COMPUTED_BY_INSTALL = 10
local COMPUTED_IN_TOTAL = 40
local REMEMBERED_SECONDS = 600
-- LONGEST_PASS_SECONDS of policy/visitor-pass.ts.
local LONGEST_PASS = 86400

-- Credentials that were right, by a keyed hash: the cache holds no password.
local accepted = lrucache.new(1000)
local urandom = assert(io.open("/dev/urandom", "rb"))
local secret = urandom:read(32)
urandom:close()

local most_rounds, no_user

-- Takes the rounds of new hashes, and the most of any, from the settings.
function M.configure(rounds, most)
  most_rounds = most
  -- Compared with the password of an unknown user, so that the time does not tell which users exist.
  no_user = "pbkdf2-sha256$" .. rounds .. "$00$" .. ("0"):rep(64)
end

local function credentials(header)
  local encoded = header and header:match("^[Bb][Aa][Ss][Ii][Cc] +([%w+/=]+)$")
  local decoded = encoded and ngx.decode_base64(encoded)
  if not decoded then return nil end
  return decoded:match("^([^:]*):(.*)$")
end

local function is_exhausted(limits, id)
  -- Attempts that the install's own limit refuses do not use up the total of the others.
  if (limits:incr("computed" .. id, 1, 0, 1) or 0) > COMPUTED_BY_INSTALL then return true end
  return (limits:incr("total", 1, 0, 1) or 0) > COMPUTED_IN_TOTAL
end

-- Whether a text is a pass, see policy/visitor-pass.ts. `now`: seconds.
function M.is_pass(key, pass, now)
  local til, signed = (pass or ""):match("^(%d%d%d%d%d%d%d%d%d%d)%.(%x+)$")
  local left = til and tonumber(til) - now
  if not left or left < 0 or left > LONGEST_PASS then return false end
  return passwords.equals(addresses.digits(ngx.hmac_sha1(key, "pass " .. til)), signed)
end

-- Whether a visitor need not enter the password: by the address, or with a pass from WordPress or the host.
function M.admits(protect, digits, header, cookie, now)
  if not addresses.is_empty(protect.exempt) and addresses.contains(protect.exempt, digits) then return true end
  return M.is_pass(protect.passKey, header, now) or M.is_pass(protect.passKey, cookie, now)
end

-- Whether these credentials are meant for the website's password, and not for its WordPress.
function M.names_visitor(protect, header)
  local user = credentials(header)
  return user ~= nil and protect.users[user] ~= nil
end

-- Nil if the visitor may see the website, otherwise the status: 401, or 429 after too many failures with the seconds until the
-- next attempt. `block`: the address.
function M.refusal(row, header, block)
  local user, password = credentials(header)
  if not user then return 401 end
  local key = ngx.hmac_sha1(secret, row.id .. row.revision .. header)
  if accepted:get(key) then return nil end
  local limits = ngx.shared.edge_limits
  local failed = "failed" .. row.id .. block
  if (limits:get(failed) or 0) >= FAILURES then return 429, math.ceil(limits:ttl(failed) or FAILURES_SECONDS) end
  if is_exhausted(limits, row.id) then return 429, 1 end
  local hash = row.protect.users[user]
  local matches = passwords.matches(hash or no_user, password, most_rounds)
  if hash and matches then
    accepted:set(key, true, REMEMBERED_SECONDS)
    return nil
  end
  limits:incr(failed, 1, 0, FAILURES_SECONDS)
  return 401
end

return M
