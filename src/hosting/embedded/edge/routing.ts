import type { Vhost, VhostName } from '../host-folder/vhost.ts';

/** The website that answers a host name, and its settings for that name. */
export interface Route {
  vhost: Vhost;
  hostname: VhostName;
}

/** Host names and the websites that answer them. */
export interface RoutingTable {
  /** Adds a website, or replaces the one with the same id. */
  set(vhost: Vhost): void;
  delete(installId: string): void;
  /** The website for a host name as {@link parseHost} gives it: exact names before wildcards. */
  find(host: string): Route | undefined;
  /** The names that several websites claim, the current holder first. For the log. */
  contested(installId: string): { name: string; winner: string }[];
  readonly size: number;
}

/**
 * Creates an empty table. If two websites claim one name, a default domain wins, then the lower id. The result depends on the table's
 * content, not on the order of insertion.
 */
export function createRoutingTable(): RoutingTable {
  const byId = new Map<string, Vhost>();
  const byName = new Map<string, Route[]>();

  const remove = (id: string): void => {
    const vhost = byId.get(id);
    if (vhost === undefined) return;
    byId.delete(id);
    for (const { name } of vhost.hostnames.values()) {
      const left = (byName.get(name) ?? []).filter((route) => route.vhost.id !== id);
      if (left.length === 0) byName.delete(name);
      else byName.set(name, left);
    }
  };

  return {
    set(vhost) {
      remove(vhost.id);
      byId.set(vhost.id, vhost);
      for (const hostname of vhost.hostnames.values()) {
        const claims = byName.get(hostname.name);
        if (claims === undefined) byName.set(hostname.name, [{ vhost, hostname }]);
        else byName.set(hostname.name, [...claims, { vhost, hostname }].sort(byRank));
      }
    },
    delete: remove,
    find(host) {
      const exact = byName.get(host);
      if (exact !== undefined) return exact[0];
      const dot = host.indexOf('.');
      return dot > 0 ? byName.get(`*${host.slice(dot)}`)?.[0] : undefined;
    },
    contested: (id) =>
      [...(byId.get(id)?.hostnames.keys() ?? [])].flatMap((name) => {
        const claims = byName.get(name) ?? [];
        const [first] = claims;
        return first === undefined || claims.length < 2 ? [] : [{ name, winner: first.vhost.name }];
      }),
    get size() {
      return byId.size;
    },
  };
}

function byRank(a: Route, b: Route): number {
  const own = Number(b.hostname.platform) - Number(a.hostname.platform);
  return own !== 0 ? own : a.vhost.id < b.vhost.id ? -1 : 1;
}

/** A parsed Host header (RFC 9110 section 7.2). */
export interface HostHeader {
  /** Lower case, without the trailing dot. */
  name: string;
  /** As digits, or null if none was named. */
  port: string | null;
}

const HOST_HEADER = /^([a-z0-9_][a-z0-9_.-]*?)\.?(?::(\d{0,5}))?$/i;

/** Parses a Host header. Null if it is missing or not a host name (IP addresses have no website). */
export function parseHost(header: string | undefined): HostHeader | null {
  const match = header === undefined ? null : HOST_HEADER.exec(header);
  return match?.[1] === undefined ? null : { name: match[1].toLowerCase(), port: match[2] || null };
}
