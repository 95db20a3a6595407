-- Which scheme and name a request is redirected to. The same rule as policy/redirects.ts; both run policy/redirects.fixture.ts.
local M = {}

-- A certificate is still valid at its notAfter (RFC 5280 section 4.1.2.5).
local function is_certified(target, now)
  local ends = target and target.certifiedUntil
  return type(ends) == "number" and now <= ends
end

-- The scheme, and the name or nil for the name in the request; nil to serve the website. `rule`: of the name that is asked for,
-- one of `names`. `now`: milliseconds.
function M.target(names, rule, scheme, now)
  local to = type(rule.redirectTo) == "string" and rule.redirectTo or nil
  local target = rule
  if to then target = names[to] end
  local forced = rule.forceHttps or (target ~= nil and target.forceHttps)
  local secure = scheme == "https" or (forced and is_certified(target, now))
  local new_scheme = secure and "https" or "http"
  if not to and new_scheme == scheme then return nil end
  return new_scheme, to
end

return M
