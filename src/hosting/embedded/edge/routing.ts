import { createNameClaims } from '../../policy/name-claims.ts';
import type { NameRule, Vhost } from '../host-folder/vhost.ts';

/** The website that answers a host name, and its rule for that name. */
export interface Route {
  vhost: Vhost;
  /** As the install has it: the name in the request, or a wildcard. */
  name: string;
  rule: NameRule;
}

/** Host names and the websites that answer them. */
export interface RoutingTable {
  /** Adds a website, or replaces the one with the same id. */
  set(vhost: Vhost): void;
  delete(installId: string): void;
  /** The website for a host name as {@link parseHost} gives it: exact names before wildcards. */
  find(host: string): Route | undefined;
  /** The names that several websites claim, with the present holder. For the log. */
  contested(installId: string): { name: string; winner: string }[];
  all(): Iterable<Vhost>;
  readonly size: number;
}

export function createRoutingTable(): RoutingTable {
  const vhosts = new Map<string, Vhost>();
  const claims = createNameClaims();

  function routeOf(name: string): Route | undefined {
    const holder = claims.holderOf(name);
    const vhost = holder === undefined ? undefined : vhosts.get(holder);
    const rule = vhost?.names.get(name);
    return vhost && rule && { vhost, name, rule };
  }

  return {
    set(vhost) {
      vhosts.set(vhost.id, vhost);
      claims.set(
        vhost.id,
        [...vhost.names].map(([name, rule]) => [name, rule.default]),
      );
    },
    delete(id) {
      vhosts.delete(id);
      claims.delete(id);
    },
    find(host) {
      const dot = host.indexOf('.');
      return routeOf(host) ?? (dot > 0 ? routeOf(`*${host.slice(dot)}`) : undefined);
    },
    contested: (id) =>
      [...(vhosts.get(id)?.names.keys() ?? [])].flatMap((name) => {
        const [first, ...others] = claims.claimantsOf(name);
        const winner = first === undefined ? undefined : vhosts.get(first)?.name;
        return winner === undefined || others.length === 0 ? [] : [{ name, winner }];
      }),
    all: () => vhosts.values(),
    get size() {
      return vhosts.size;
    },
  };
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
