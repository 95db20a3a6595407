import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader, NamedCapability } from '../../hosts/capabilities.ts';
import { requireNamed } from '../installs/requested-website.ts';
import { findInstallAccess } from '../installs/store.ts';
import { findWebsite } from '../installs/website-store.ts';

export type CapabilityService = ReturnType<typeof createCapabilityService>;

/** Tells users what the hosts of their installs do for them. */
export function createCapabilityService(
  { database: { reader } }: Pick<Platform, 'database'>,
  capabilities: Pick<CapabilityReader, 'all'>,
) {
  return {
    /** Every capability of an install. Throws NotFound. */
    async list(caller: Caller, id: string): Promise<NamedCapability[]> {
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, id));
      const website = await findWebsite(reader, { id });
      if (!website) throw new NotFound();
      return capabilities.all(reader, website);
    },

    /** For the command line, by name. Throws InvalidRequest. */
    listByName: async (name: string): Promise<NamedCapability[]> =>
      capabilities.all(reader, await requireNamed(reader, name)),
  };
}
