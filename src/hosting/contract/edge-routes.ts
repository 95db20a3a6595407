import type { ServedCertificate } from './install-state.ts';

/** The edge of another host, where this host's edge forwards requests. */
export interface OtherEdge {
  hostId: string;
  /** IP address. */
  host: string;
  port: number;
}

/** An edge's certificate, which other edges of the fleet accept as server and as client. PEM; the key is PKCS#8. */
export interface EdgeIdentity {
  certificate: string;
  key: string;
  /** Certificate of the authority of all edges. */
  authority: string;
}

/** Where visitors of an install go that another host serves. */
export interface EdgeRoute {
  installId: string;
  /** The host that serves it; null: the names are forwarded no more. */
  hostId: string | null;
  /** Its user name for SSH; null without a host. Versions before omit it. */
  user?: string | null;
  names: RoutedName[];
  /** SHA-256 of the rest, hex, made by the control plane. */
  digest: string;
}

export interface RoutedName {
  /** ASCII, lower case; the `*` of `*.example.com` matches one label. */
  name: string;
  /** For visitors who arrive here; null: the edge's own. */
  certificate: Pick<ServedCertificate, 'chain' | 'key'> | null;
}

/** Installs of one message of routes. */
export const MOST_ROUTES = 200;

/** Forwards requests for websites of other hosts to the edges of these hosts. A host prefers its own website to a route of the same name. */
export interface EdgeRouting {
  /**
   * Joins the edges of the fleet: `others` replaces those known before. `identity`: null keeps the present one. Requests from edges that
   * are not among the others are refused. Rejects with a PermanentHostError if the host cannot listen for them.
   */
  joinEdges(identity: EdgeIdentity | null, others: readonly OtherEdge[]): Promise<void>;
  /** Sets or removes the routes of these installs. Effective when it resolves, and kept across restarts. */
  setRoutes(routes: readonly EdgeRoute[]): Promise<void>;
  /** Lists up to `INVENTORY_PAGE` routes with an install id above `after`, in the order of the ids. */
  heldRoutes(after: string | null): Promise<{ installId: string; digest: string }[]>;
}

/** How the edge of a host accepts requests from other edges. */
export interface EdgeForwarding {
  /** The address that it listens on; null: all addresses of the machine. */
  host: string | null;
  port: number;
  /** The hosts whose edges it has reached, where these are now; hosts of earlier versions omit them. */
  reaches?: string[];
  /** Its identity; null before it has one. */
  identity: {
    /** SHA-256 of the authority's certificate, hex. */
    authority: string;
    /** ISO 8601 in UTC, with milliseconds. */
    notAfter: string;
  } | null;
}
