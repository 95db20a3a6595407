import type { Generated } from 'kysely';
import type { GeneratedJson, Json, NullableJson } from './json.ts';

export interface HostRow {
  seq: Generated<number>;
  /** The id that the host reports. */
  id: string;
  name: string;
  /** `unix:/run/homeport-host/host.sock` or `https://address:port`. */
  address: string;
  /** Host name or IP address for SFTP and SSH; null: that of the control plane. */
  public_name: string | null;
  /** Public addresses of its websites. An empty list: those of the platform's settings. */
  edge_addresses: GeneratedJson;
  /** Array of words by which accounts choose hosts. */
  labels: GeneratedJson;
  /** Whether it takes only installs of accounts that want its labels. */
  reserved: Generated<boolean>;
  /** Whether new installs are placed on it. */
  accepting: Generated<boolean>;
  /** The last reported HostDescription; null before the first. */
  description: NullableJson;
  /** When it last answered. */
  seen_at: string | null;
  /** Why the host does not answer, one sentence; null while it does. */
  reason: string | null;
  /** When its backups were last moved to another place; null: never. */
  backups_moved_at: Generated<string | null>;
  /** When the operator gave it up: it takes part in nothing until it is taken back. Null: it is not given up. */
  lost_at: Generated<string | null>;
  created_at: string;
}

/** The certificate authority for mutual authentication of the platform and its hosts. */
export interface HostAuthorityRow {
  one: 1;
  /** PEM. */
  certificate: string;
  sealed_key: string;
  client_certificate: string;
  sealed_client_key: string;
  /** Of the edges of the hosts; null before there are several. */
  edge_certificate: Generated<string | null>;
  sealed_edge_key: Generated<string | null>;
  /** Public SSH host key of all hosts, `type base64`; null while there is one host. */
  ssh_host_key: Generated<string | null>;
  sealed_ssh_host_key: Generated<string | null>;
  created_at: string;
}

/** The data folder with an embedded host's websites, if the database is stored elsewhere. */
export interface WebsitesFolderRow {
  one: 1;
  /** The folder's id, stored in the folder. */
  id: string;
  /** Path of the folder when it was claimed, for the operator. */
  machine: string;
  path: string;
  claimed_at: string;
}

/** The id of this platform on its hosts. A copy of the database has the same id. */
export interface PlatformIdentityRow {
  one: 1;
  id: string;
}

/** An install that a host holds and the platform does not know. */
export interface OrphanedInstallRow {
  /** Id of the host; `embedded` if the platform's own process serves the websites. */
  host: string;
  id: string;
  /** Null if unknown on the host. */
  name: string | null;
  /** The first host names that it serves or served. */
  hostnames: Json;
  /** Whether it is still served, because the host refused to set it aside for this platform. */
  is_served: boolean;
  found_at: string;
}
