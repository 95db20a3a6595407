-- Checks passwords of visitors. OpenSSL, which nginx is linked to, computes the hashes; see policy/visitor-password.ts.
local ffi = require "ffi"
local bit = require "bit"

ffi.cdef [[
typedef struct evp_md_st EVP_MD;
const EVP_MD *EVP_sha256(void);
int PKCS5_PBKDF2_HMAC(const char *pass, int passlen, const unsigned char *salt, int saltlen, int iter,
                      const EVP_MD *digest, int keylen, unsigned char *out);
]]

local M = {}

local LENGTH = 32
local LONGEST_PASSWORD = 256

local function from_hex(text)
  return (text:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end))
end

-- In constant time.
function M.equals(one, other)
  if #one ~= #other then return false end
  local difference = 0
  for index = 1, #one do difference = bit.bor(difference, bit.bxor(one:byte(index), other:byte(index))) end
  return difference == 0
end

-- Whether a password belongs to a hash. Throws if the hash cannot be read, or has more than `most` rounds: a worker serves no one
-- else meanwhile.
function M.matches(hash, password, most)
  local iterations, salt, expected = hash:match("^pbkdf2%-sha256%$(%d+)%$(%x+)%$(%x+)$")
  iterations = tonumber(iterations)
  if not iterations or iterations < 1 or iterations > most or #expected ~= 2 * LENGTH then
    error("a password's hash cannot be read", 0)
  end
  if #password > LONGEST_PASSWORD then return false end
  local salt_bytes = from_hex(salt)
  local derived = ffi.new("unsigned char[?]", LENGTH)
  local done = ffi.C.PKCS5_PBKDF2_HMAC(
    password, #password, salt_bytes, #salt_bytes, iterations, ffi.C.EVP_sha256(), LENGTH, derived)
  if done ~= 1 then error("OpenSSL cannot compute a password's hash", 0) end
  return M.equals(ffi.string(derived, LENGTH), from_hex(expected))
end

return M
