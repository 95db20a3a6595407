/** At most so many installs are listed, or put aside, by one call. */
export const INVENTORY_PAGE = 500;
/** At most so many host names of one install are listed. */
export const LISTED_HOSTNAMES = 20;

/** An install with anything on a host: a website, or only files or backups. */
export interface HeldInstall {
  /** UUID, lower case. */
  id: string;
  /** Null if nothing on the host says it any more. */
  name: string | null;
  /** The first {@link LISTED_HOSTNAMES} that it answers, or answered before it was put aside. */
  hostnames: string[];
  /** The digest (state-digest.ts) of the state that it is served by; null if it is not served. */
  digest: string | null;
}

/** The installs on a host, for a platform to compare with its database. */
export interface Inventory {
  /**
   * Lists up to {@link INVENTORY_PAGE} installs with an id above `after`, in the order of their ids. `platform` is the id of the
   * platform that the host belongs to, null for none yet.
   */
  heldInstalls(after: string | null): Promise<{ platform: string | null; installs: HeldInstall[] }>;
  /** Makes the host belong to a platform. Lasts. */
  belongTo(platform: string): Promise<void>;
  /**
   * Stops serving these installs and ends their processes. Their files, databases and backups stay, and a later `apply` serves
   * them again. Gives the ids of those that the host holds. Rejects with a PermanentHostError if it belongs to
   * another platform.
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
