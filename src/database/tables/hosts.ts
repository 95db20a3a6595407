import type { Generated } from 'kysely';
import type { GeneratedJson, Json, NullableJson } from './json.ts';

export interface HostRow {
  seq: Generated<number>;
  /** The host's own id, which it tells itself. */
  id: string;
  name: string;
  /** `unix:/run/homeport-host/host.sock` or `https://address:port`. */
  address: string;
  /** Where people reach its SFTP and SSH: a host name or an IP address; null: where the control plane does. */
  public_name: string | null;
  /** At which its websites are reached, where that is not what the platform's settings say; an empty list: there. */
  edge_addresses: GeneratedJson;
  /** Whether new installs are placed on it. */
  accepting: Generated<boolean>;
  /** HostDescription as it was last told; null before. */
  description: NullableJson;
  /** When it last answered. */
  seen_at: string | null;
  /** Why it does not answer, one sentence; null while it does. */
  reason: string | null;
  created_at: string;
}

/** The one authority that this platform's hosts and itself know each other by. */
export interface HostAuthorityRow {
  one: 1;
  /** PEM. */
  certificate: string;
  sealed_key: string;
  client_certificate: string;
  sealed_client_key: string;
  created_at: string;
}

/** The one data folder that the websites of an embedded host lie in, where the database does not lie in it too. */
export interface WebsitesFolderRow {
  one: 1;
  /** The folder's own id, which lies in it. */
  id: string;
  /** Where it was when it was claimed, for people to find it. */
  machine: string;
  path: string;
  claimed_at: string;
}

/** The id by which hosts know this platform. A copy of the database has the same. */
export interface PlatformIdentityRow {
  one: 1;
  id: string;
}

/** An install that a host holds and the platform does not know. */
export interface OrphanedInstallRow {
  /** Id of the host; `embedded` where this platform's own process serves the websites. */
  host: string;
  id: string;
  /** Null if nothing on the host says it. */
  name: string | null;
  /** The first of the host names that it answers, or answered. */
  hostnames: Json;
  /** Whether it is still served, because the host refused to put it aside for this platform. */
  is_served: boolean;
  found_at: string;
}
