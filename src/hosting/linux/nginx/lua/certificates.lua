-- Shows the certificate of the name that a visitor asks for. Only root may read the files of keys, so nginx's main process copies them
-- into shared memory at its start, and the host's process sends later ones.
local cjson = require "cjson.safe"
local ffi = require "ffi"
local lrucache = require "resty.lrucache"
local routes = require "routes"
local rows = require "rows"
local settings = require "settings"
local ssl = require "ngx.ssl"

ffi.cdef [[
void *OPENSSL_sk_value(const void *stack, int index);
int X509_check_private_key(const void *certificate, const void *key);
void ERR_clear_error(void);
]]

local keys = ngx.shared.edge_keys

-- By id; false for one that cannot be used. An id names a chain and a key that never change.
local parsed

-- nginx's own certificate.
local own

local M = {}

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

local function parse_pems(chain_pem, key_pem)
  local chain, err = ssl.parse_pem_cert(chain_pem)
  if not chain then return nil, err end
  local key
  key, err = ssl.parse_pem_priv_key(key_pem)
  if not key then return nil, err end
  if ffi.C.X509_check_private_key(ffi.C.OPENSSL_sk_value(chain, 0), key) ~= 1 then
    -- Otherwise the next operation of this connection would report it.
    ffi.C.ERR_clear_error()
    return nil, "the private key belongs to another certificate"
  end
  return { chain = chain, key = key }
end

-- Runs in the main process, as root.
function M.init()
  local own_pem = assert(read(settings.ownCertificate))
  own = assert(parse_pems(own_pem, own_pem))
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

local function unusable(id, err)
  ngx.log(ngx.ERR, "cannot use the certificate ", id, ": ", err)
  parsed:set(id, false)
end

-- The certificate with its key; nil if nginx has none that it can use.
local function certificate_of(id)
  local certificate = parsed:get(id)
  if certificate ~= nil then return certificate or nil end
  local text = keys:get(id)
  if not text then return nil end
  local pems = cjson.decode(text)
  local err
  certificate, err = parse_pems(pems[1], pems[2])
  if not certificate then return unusable(id, err) end
  parsed:set(id, certificate)
  return certificate
end

local function show(certificate)
  local ok, err = ssl.clear_certs()
  if ok then ok, err = ssl.set_cert(certificate.chain) end
  if ok then ok, err = ssl.set_priv_key(certificate.key) end
  return ok, err
end

-- The id of the certificate of a name that this host or another one serves; nil or null without one.
local function id_of(name)
  local entry = rows.find(name)
  local route = routes.find(name, entry)
  if route then return route.certificate end
  return entry and entry.name.certificate
end

-- Without a certificate, nginx shows its own.
function M.show()
  local name = ssl.server_name()
  if not name then return end
  -- The request itself reports a row that cannot be read.
  local ok, id = pcall(id_of, (name:lower():gsub("%.$", "")))
  if not ok or not id or id == rows.null then return end
  local certificate = certificate_of(id)
  if not certificate then return end
  local shown, err = show(certificate)
  if shown then return end
  -- Such as a key that is too short for OpenSSL.
  unusable(id, err)
  assert(show(own))
end

return M
