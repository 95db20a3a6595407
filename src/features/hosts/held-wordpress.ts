import type { Queries } from '../../database/database.ts';
import { findHost } from './store.ts';

/** The versions of WordPress that the host of an install has, newest first. `hostId`: null for the embedded host. */
export type HeldWordPress = (queries: Queries, hostId: string | null) => Promise<string[]>;

/** `embedded`: the versions of the embedded host of this machine; none on a platform with Linux hosts. */
export function createHeldWordPress(embedded: () => Promise<string[]>): HeldWordPress {
  return async (queries, hostId) => {
    if (hostId === null) return embedded();
    return (await findHost(queries, { id: hostId }))?.description?.wordpressVersions ?? [];
  };
}
