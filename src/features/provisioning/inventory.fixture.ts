import type { Inventory } from '../../hosting/contract/inventory.ts';
import type { Platform } from '../../platform/platform.ts';
import { providePlatformId } from './orphan-store.ts';

/** A host of this platform that serves these installs. `aside` gets the ids of those that it sets aside. */
export async function servingInventory(
  { database, random }: Pick<Platform, 'database' | 'random'>,
  installs: readonly { id: string; name: string }[],
  aside: string[],
): Promise<Inventory> {
  const platform = await providePlatformId(database, random.uuid());
  return {
    heldInstalls: async (after) => ({
      platform,
      installs:
        after === null
          ? installs.map(({ id, name }) => ({
              ...{ id, name, hostnames: [], lost: [] },
              digest: aside.includes(id) ? null : 'served',
            }))
          : [],
    }),
    belongTo: async () => {},
    async setAside(_platform, ids) {
      aside.push(...ids);
      return [...ids];
    },
  };
}
