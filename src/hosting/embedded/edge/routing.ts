import type { Vhost, VhostName } from '../host-folder/vhost.ts';

/** Which website answers a host name, and what it says about that name. */
export interface Route {
  vhost: Vhost;
  hostname: VhostName;
}

/** Host names and the websites that answer them. */
export interface RoutingTable {
  /** Puts a website in, in the place of the one with the same id. */
  set(vhost: Vhost): void;
  delete(installId: string): void;
  /** The website for a host name as {@link parseHost} gives it: exact names before wildcards. */
  find(host: string): Route | undefined;
  /** The names that more than one of the websites claim, with who has it first. For the log. */
  contested(installId: string): { name: string; winner: string }[];
  readonly size: number;
}

/**
 * An empty table. Where two websites claim one name, a website's own platform name wins, then the lower id: who
 * answers depends on what is in the table and not on the order in which it came.
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

/** A Host header (RFC 9110 section 7.2) taken apart. */
export interface HostHeader {
  /** Lower case, without the trailing dot. */
  name: string;
  /** As digits, or null if none was named. */
  port: string | null;
}

const HOST_HEADER = /^([a-z0-9_][a-z0-9_.-]*?)\.?(?::(\d{0,5}))?$/i;

/** Reads a Host header; null for none and for what is no host name (an address has no website here). */
export function parseHost(header: string | undefined): HostHeader | null {
  const match = header === undefined ? null : HOST_HEADER.exec(header);
  return match?.[1] === undefined ? null : { name: match[1].toLowerCase(), port: match[2] || null };
}
