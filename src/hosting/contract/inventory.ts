/** The most installs that one call lists or sets aside. */
export const INVENTORY_PAGE = 500;
/** The most host names listed for one install. */
export const LISTED_HOSTNAMES = 20;

/** An install with anything on a host: a website, or only files or backups. */
export interface HeldInstall {
  /** UUID, lower case. */
  id: string;
  /** Null if nothing on the host records it. */
  name: string | null;
  /** The first {@link LISTED_HOSTNAMES}, current or from before it was set aside. */
  hostnames: string[];
  /** The digest (state-digest.ts) of the served state; null if it is not served. */
  digest: string | null;
  /** The missing data, one sentence each. The host has closed the website because of that. Omitted if no data is missing. */
  lost?: string[];
}

/** The installs on a host, for a platform to compare with its database. */
export interface Inventory {
  /**
   * Lists up to {@link INVENTORY_PAGE} installs with an id above `after`, in the order of their ids. `platform` is the id of the
   * platform that the host belongs to, null for none yet.
   */
  heldInstalls(after: string | null): Promise<{ platform: string | null; installs: HeldInstall[] }>;
  /** Assigns the host to a platform permanently. */
  belongTo(platform: string): Promise<void>;
  /**
   * Stops serving these installs and ends their processes. Keeps their files, databases and backups, so that a later `apply` serves them
   * again. Returns the ids that the host holds. Rejects with a PermanentHostError if the host belongs to another platform.
   */
  setAside(platform: string, installIds: readonly string[]): Promise<string[]>;
}

/** One page of ids, in order. */
export function pageOf(installIds: Iterable<string>, after: string | null): string[] {
  return [...new Set(installIds)]
    .filter((id) => after === null || id > after)
    .sort()
    .slice(0, INVENTORY_PAGE);
}
