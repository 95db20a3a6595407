import { type HeldInstall, type Inventory, LISTED_HOSTNAMES, pageOf } from '../contract/inventory.ts';
import { stateDigest } from '../contract/state-digest.ts';
import { createPlatformMembership } from '../policy/platform-membership.ts';
import type { LinuxLayout } from './machine/layout.ts';
import type { InstallRecord, Records } from './machine/record.ts';

export interface LinuxInventoryOptions {
  layout: LinuxLayout;
  records: Records;
  aside: Records;
  /** Whether the name is that of a temporary copy (a trial restore). */
  isTrial(installName: string): boolean;
  /** Serializes work on an install. */
  serially<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
  /** Called while the install is locked. */
  setAside(installId: string): Promise<void>;
}

/** The installs that have a record on this host, including those set aside. */
export function createLinuxInventory(
  options: LinuxInventoryOptions,
): Inventory & { platform(): Promise<string | null> } {
  const { records, aside, isTrial, serially } = options;
  const membership = createPlatformMembership(options.layout.platform);

  async function held(id: string): Promise<HeldInstall[]> {
    const served = await read(records, id);
    const record = served ?? (await read(aside, id));
    if (record === null || isTrial(record.state.name)) return [];
    const { name, hostnames } = record.state;
    return [
      {
        id,
        name,
        hostnames: hostnames.slice(0, LISTED_HOSTNAMES).map((hostname) => hostname.name),
        digest: served === null ? null : stateDigest(served.state),
        ...(record.placement.lost === undefined ? {} : { lost: record.placement.lost }),
      },
    ];
  }

  async function ids(): Promise<string[]> {
    return (await Promise.all([records.ids(), aside.ids()])).flat();
  }

  return {
    async heldInstalls(after) {
      const page = pageOf(await ids(), after);
      const platform = await membership.platform();
      return { platform, installs: (await Promise.all(page.map(held))).flat() };
    },
    platform: membership.platform,
    belongTo: membership.belongTo,
    async setAside(platform, installIds) {
      await membership.requireOwn(platform);
      for (const id of installIds) await serially(id, () => options.setAside(id));
      const present = new Set(await ids());
      return installIds.filter((id) => present.has(id));
    },
  };
}

/** An unreadable record is not served either; `doctor --host` names it. */
function read(records: Records, id: string): Promise<InstallRecord | null> {
  return records.read(id).catch(() => null);
}
