import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { removeDurably, syncFolder } from '../../lib/durable-file.ts';
import { hasCode } from '../../lib/error-code.ts';
import { parseUuid } from '../../lib/ids.ts';
import { ifThere } from '../../lib/if-there.ts';
import { type HeldInstall, type Inventory, LISTED_HOSTNAMES, pageOf } from '../contract/inventory.ts';
import { stateDigest } from '../contract/state-digest.ts';
import { createPlatformMembership } from '../policy/platform-membership.ts';
import { installOfVhostFile, type Layout } from './host-folder/layout.ts';
import { parseVhostFile, type VhostFile } from './host-folder/vhost.ts';
import { missingData, NO_FILES } from './wordpress/missing-data.ts';

export interface EmbeddedInventory extends Inventory {
  /** Takes an install back from `aside`. Its website is created from its new vhost file, or removed. */
  takeBack(installId: string): Promise<void>;
  /** Stops serving an install that is being deleted. Keeps its files and backups. */
  retire(installId: string): Promise<void>;
}

export interface EmbeddedInventoryOptions {
  layout: Layout;
  /** Serializes work on each vhost file. */
  serially<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
  /** Called when an install must no longer be served. The edge of another process notices it in the folder. */
  onAside(installId: string): void;
}

const READ_AT_ONCE = 50;

/** The installs of an embedded host's folder. Vhost files of installs that are set aside are in a folder that the edge does not read. */
export function createEmbeddedInventory({
  layout,
  serially,
  onAside,
}: EmbeddedInventoryOptions): EmbeddedInventory {
  const membership = createPlatformMembership(layout.platform);

  async function ids(): Promise<string[]> {
    const folders = [layout.vhosts, layout.aside, layout.installs, layout.snapshots];
    const names = await Promise.all(folders.map(async (folder) => (await ifThere(readdir(folder))) ?? []));
    return names.flat().flatMap((name) => installOfVhostFile(name) ?? (parseUuid(name) === name ? name : []));
  }

  function held(id: string): HeldInstall {
    const served = readVhost(layout.vhostOf(id));
    const file = served ?? readVhost(layout.asideOf(id));
    const lost =
      file?.wordpress !== undefined
        ? missingData(layout, id)
        : existsSync(layout.filesOf(id))
          ? []
          : [NO_FILES];
    return {
      id,
      name: file?.name ?? null,
      hostnames: file?.hostnames.slice(0, LISTED_HOSTNAMES).map(({ name }) => name) ?? [],
      digest: served === null ? null : stateDigest(served),
      ...(lost.length === 0 ? {} : { lost }),
    };
  }

  async function setAside(id: string): Promise<void> {
    await mkdir(layout.aside, { recursive: true, mode: 0o700 });
    try {
      await rename(layout.vhostOf(id), layout.asideOf(id));
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      return;
    }
    await Promise.all([syncFolder(layout.aside), syncFolder(layout.vhosts)]);
    onAside(id);
  }

  return {
    async heldInstalls(after) {
      const platform = await membership.platform();
      const installs: HeldInstall[] = [];
      for (const [at, id] of pageOf(await ids(), after).entries()) {
        // Lets visitors be answered in between.
        if (at % READ_AT_ONCE === READ_AT_ONCE - 1) await nextTurn();
        installs.push(held(id));
      }
      return { platform, installs };
    },
    belongTo: membership.belongTo,
    async setAside(platform, installIds) {
      await membership.requireOwn(platform);
      for (const id of installIds) await serially(id, () => setAside(id));
      const present = new Set(await ids());
      return installIds.filter((id) => present.has(id));
    },
    retire: (installId) => serially(installId, () => setAside(installId)),
    async takeBack(installId) {
      if (existsSync(layout.asideOf(installId))) await removeDurably(layout.asideOf(installId));
    },
  };
}

/** Null for a missing or unusable file: the edge does not serve such a website either. */
function readVhost(path: string): VhostFile | null {
  try {
    return parseVhostFile(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
