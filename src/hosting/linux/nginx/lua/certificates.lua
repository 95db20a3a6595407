-- Shows the certificate of the name that a visitor asks for. Only root may read the files of keys, so nginx's main process copies them
-- into shared memory at its start, and the host's process sends later ones.
local cjson = require "cjson.safe"
local lrucache = require "resty.lrucache"
local rows = require "rows"
local settings = require "settings"
local ssl = require "ngx.ssl"

local keys = ngx.shared.edge_keys

local parsed

local M = {}

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

-- Runs in the main process, as root.
function M.init()
  local index = read(settings.certificates .. "index")
  if not index then return end
  for id in index:gmatch("%x+") do
    local chain, key = read(settings.certificates .. id .. ".pem"), read(settings.certificates .. id .. ".key")
    if chain and key then
      local ok, err = M.store(id, chain, key)
      -- Names without their certificate get nginx's own; the other websites are served.
      if not ok then ngx.log(ngx.ERR, "cannot hold the certificate ", id, ": ", err) end
    end
  end
end

function M.init_worker()
  parsed = assert(lrucache.new(math.max(1, math.floor(settings.mostCertificates / ngx.worker.count()))))
end

-- Never evicts another certificate.
function M.store(id, chain, key)
  return keys:safe_set(id, cjson.encode({ chain, key }))
end

function M.remove(id)
  keys:delete(id)
end

function M.ids()
  return keys:get_keys(0)
end

local function parse(id)
  local text = keys:get(id)
  if not text then return nil end
  local pems = cjson.decode(text)
  local chain, err = ssl.parse_pem_cert(pems[1])
  if not chain then return nil, err end
  local key
  key, err = ssl.parse_pem_priv_key(pems[2])
  if not key then return nil, err end
  local certificate = { chain = chain, key = key }
  parsed:set(id, certificate)
  return certificate
end

-- Without a certificate, nginx shows its own.
function M.show()
  local name = ssl.server_name()
  if not name then return end
  -- The request itself reports a row that cannot be read.
  local ok, entry = pcall(rows.find, (name:lower():gsub("%.$", "")))
  local id = ok and entry and entry.name.certificate
  if not id or id == rows.null then return end
  local certificate, err = parsed:get(id)
  if not certificate then certificate, err = parse(id) end
  if not certificate then
    if err then ngx.log(ngx.ERR, "cannot use the certificate ", id, ": ", err) end
    return
  end
  assert(ssl.clear_certs())
  assert(ssl.set_cert(certificate.chain))
  assert(ssl.set_priv_key(certificate.key))
end

return M
