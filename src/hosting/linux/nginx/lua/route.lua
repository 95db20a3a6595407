-- Finds the website of a request, before nginx selects a location.
local rows = require "rows"

local MARKERS = "/.well-known/homeport/"
-- Texts that every name answers, also without a website.
local PROOFS = { "/.well-known/acme-challenge/", "/.well-known/homeport-check/" }

local M = {}

local function is_proof(uri)
  for _, prefix in ipairs(PROOFS) do
    if uri:sub(1, #prefix) == prefix then return true end
  end
  return false
end

-- Says that the row is served in this revision.
local function answer_marker(row)
  ngx.header["Content-Type"] = "text/plain"
  ngx.header["Cache-Control"] = "no-store"
  ngx.print("homeport ", row.id, " ", row.revision, "\n")
  return ngx.exit(200)
end

function M.run()
  -- An internal redirect comes here again. The variables keep what the request found.
  if ngx.req.is_internal() then return end
  local var = ngx.var
  local entry = rows.find(var.host)
  if not entry then
    if is_proof(var.uri) then return end
    return ngx.exec(MARKERS .. "no-website")
  end
  local row = entry.row
  if var.uri == MARKERS .. row.id .. "/" .. row.revision then return answer_marker(row) end
  var.install = row.id
  var.site_root = row.root
  var.site_home = row.home
  var.php = row.php ~= rows.null and row.php or ""
  ngx.ctx.entry = entry
end

return M
