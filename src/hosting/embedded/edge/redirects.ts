import { redirectScheme, type Scheme } from '../../policy/redirects.ts';
import type { RequestTarget } from './request-target.ts';
import type { Route } from './routing.ts';

/** How the visitor reached the edge. */
export interface Arrival {
  scheme: Scheme;
  /** The host name in the Host header, lower case. */
  name: string;
  /** The port in the Host header, or null if it named none. */
  port: string | null;
}

/** The ports on which the edge listens. */
export type EdgePorts = Record<Scheme, number>;

const DEFAULT_PORT: EdgePorts = { http: 80, https: 443 };

/**
 * The URL that a visitor is redirected to (301), or null to serve the request here. Path and query are kept as sent. They begin with `/`
 * and follow a host name, so they cannot lead to another host. HTTP visitors are redirected to HTTPS only if a certificate is valid at
 * the time `now`.
 */
export function redirectFor(
  { vhost, rule }: Route,
  arrival: Arrival,
  { path, query }: RequestTarget,
  ports: EdgePorts,
  now: Date,
): string | null {
  const { redirectTo } = rule;
  const target = redirectTo === null ? rule : vhost.names.get(redirectTo);
  const scheme = redirectScheme(rule, target, arrival.scheme, now);
  if (scheme === null) return null;
  return `${scheme}://${redirectTo ?? arrival.name}${portSuffix(scheme, arrival, ports)}${path}${query}`;
}

/**
 * A visitor who names no port used the default port. The edge is then published at the default ports, perhaps by a forwarding rule, and
 * its listening ports do not matter to the visitor.
 */
function portSuffix(scheme: Scheme, arrival: Arrival, ports: EdgePorts): string {
  if (arrival.port === null) return '';
  const port = scheme === arrival.scheme ? Number(arrival.port) : ports[scheme];
  return port === DEFAULT_PORT[scheme] ? '' : `:${port}`;
}

/** Whether a redirect leads to the address that was asked for, with either scheme, and would never end. */
export function isOwnAddress(
  to: string,
  { scheme, name, port }: Arrival,
  { path, query }: RequestTarget,
): boolean {
  const asked = `${path}${query}`;
  const isDefault = port === null || Number(port) === DEFAULT_PORT[scheme];
  return to === asked || to.replace(/^https?:\/\//, '') === `${name}${isDefault ? '' : `:${port}`}${asked}`;
}
