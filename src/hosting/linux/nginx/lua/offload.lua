-- Which paths the object storage answers. The same rule as policy/offload-rule.ts; both run policy/offload-rule.fixture.ts.
local M = {}

-- At segment borders: `up` holds `up/a` and not `upper`.
local function is_below(path, base)
  local length = #base
  return length == 0 or (path:sub(1, length) == base and (#path == length or path:byte(length + 1) == 47))
end

-- "break", "permanent", or nil if the install keeps the path. `rules`: the row's, longest first. `uri`: decoded and normalised.
-- Folders stay, because buckets have none.
function M.redirect_type(rules, uri)
  if uri:byte(-1) == 47 then return nil end
  local path = uri:sub(2)
  for _, rule in ipairs(rules) do
    if is_below(path, rule.path) then
      for _, excluded in ipairs(rule.excluded) do
        if is_below(path, excluded) then return nil end
      end
      return rule.type
    end
  end
  return nil
end

return M
