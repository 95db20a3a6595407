-- Whether an address is in the ranges of a row, which are sorted and disjoint. The same rule as policy/address-ranges.ts.
local M = {}

-- An IPv4 address inside an IPv6 address (RFC 4291 section 2.5.5.2).
local MAPPED = ("0"):rep(20) .. "ffff"

-- The hexadecimal digits of $binary_remote_addr.
function M.digits(binary)
  return (binary:gsub(".", function(character) return ("%02x"):format(character:byte()) end))
end

function M.contains(ranges, digits)
  if #digits == 32 and digits:sub(1, 24) == MAPPED then digits = digits:sub(25) end
  local list = (#digits == 8 and ranges.ipv4) or (#digits == 32 and ranges.ipv6) or {}
  local low, high = 1, #list
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local range = list[middle]
    if digits < range[1] then
      high = middle - 1
    elseif digits > range[2] then
      low = middle + 1
    else
      return true
    end
  end
  return false
end

function M.is_empty(ranges)
  return #ranges.ipv4 == 0 and #ranges.ipv6 == 0
end

return M
