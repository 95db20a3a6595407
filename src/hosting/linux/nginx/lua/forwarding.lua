-- Requests between the edges of the fleet. Only the listener for other edges verifies certificates of clients, so only there a request
-- has a sender, whose word about the visitor counts.
local balancer = require "ngx.balancer"
local routes = require "routes"

-- Hosts that a request may have passed. The second one knows a newer route than the first.
local MOST_PASSED = 2

local M = {}

-- The id of the host that forwards this request; nil for a request of a visitor.
function M.sender(var)
  if var.ssl_client_verify ~= "SUCCESS" then return nil end
  return (var.ssl_client_s_dn or ""):match("^CN=([0-9a-f-]+)$") or ""
end

-- The status to refuse a forwarded request with; nil to accept it.
function M.refusal(sender, var)
  if not routes.edge(sender) then return 403 end
  local visitor, scheme = var.http_x_homeport_visitor, var.http_x_homeport_scheme
  -- An address that nginx cannot read would leave that of the sender, who then stands for all visitors.
  if not visitor or not visitor:find(var.remote_addr, 1, true) or (scheme ~= "http" and scheme ~= "https") then return 400 end
  return nil
end

-- Sends the request to the edge that serves its name. Two hosts that each believe the other serves it end here.
function M.forward(route, sender, var)
  local edge = route.edge
  local passed = sender and ((var.http_x_homeport_passed or "") .. " " .. sender) or ""
  local _, count = passed:gsub("%S+", "")
  if count >= MOST_PASSED or passed:find(edge.hostId, 1, true) then
    ngx.log(ngx.ERR, "cannot forward a request for ", var.host, ": it has passed", passed)
    return ngx.exit(502)
  end
  var.forward_host = edge.host:find(":", 1, true) and "[" .. edge.host .. "]" or edge.host
  var.forward_port = edge.port
  var.forward_id = edge.hostId
  var.forward_install = route.install
  var.forward_passed = passed
  return ngx.exec("@forward")
end

function M.balance()
  local var = ngx.var
  local ok, err = balancer.set_current_peer(var.forward_host, tonumber(var.forward_port))
  if not ok then error("cannot choose the edge " .. var.forward_host .. ": " .. err, 0) end
end

return M
