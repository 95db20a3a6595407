-- Changes from the host's process. The answer says that the change is active in every worker.
local certificates = require "certificates"
local cjson = require "cjson.safe"
local numbers = require "numbers"
local page_state = require "page-state"

-- By method and first segment of the path. Each gets the second segment, or an empty text, and returns a status and a text.
local handlers = {}

local M = { handlers = handlers }

handlers["POST /install"] = function(id)
  numbers.renew("i" .. id)
  numbers.renew("rows")
  return 200
end

handlers["POST /names"] = function()
  numbers.renew("names")
  return 200
end

handlers["POST /routes"] = function()
  numbers.renew("routes")
  return 200
end

handlers["POST /purge"] = function(id)
  page_state.purge_all(id)
  return 200
end

-- The body is a list of paths.
handlers["POST /purge-pages"] = function(id, body)
  local paths = cjson.decode(body)
  if type(paths) ~= "table" then return 400, "not a list of paths" end
  for place, path in pairs(paths) do
    if type(place) ~= "number" or type(path) ~= "string" then return 400, "not a path" end
  end
  page_state.purge(id, paths)
  return 200
end

handlers["GET /certificates"] = function()
  return 200, table.concat(certificates.ids(), "\n")
end

handlers["POST /certificate"] = function(id, body)
  local pems = cjson.decode(body)
  if type(pems) ~= "table" or type(pems.chain) ~= "string" or type(pems.key) ~= "string" then
    return 400, "not a certificate with its key"
  end
  local ok, err = certificates.store(id, pems.chain, pems.key)
  if ok then return 200 end
  return err == "no memory" and 507 or 500, err
end

handlers["DELETE /certificate"] = function(id)
  certificates.remove(id)
  return 200
end

function M.answer()
  local kind, id = ngx.var.uri:match("^(/[a-z-]+)/?([0-9a-f-]*)$")
  local handler = kind and handlers[ngx.req.get_method() .. " " .. kind]
  if not handler then
    ngx.status = 404
    return ngx.print("")
  end
  ngx.req.read_body()
  -- A body in a file would put keys on the disk; nginx refuses larger ones.
  local status, text = handler(id, ngx.req.get_body_data() or "")
  ngx.status = status
  ngx.print(text or "")
end

return M
