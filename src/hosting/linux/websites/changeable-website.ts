import type { InstallRef } from '../../contract/install-ref.ts';
import { linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import type { ChangeableWebsite } from '../../websites/changes/item-changes.ts';
import { measureWebsite } from '../backups/measure-website.ts';
import { DiskFilled, watchingDisk } from '../machine/disk-watch.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import { cgroupOf } from './provisioning.ts';
import type { WordPressUpdatesOptions } from './wordpress-updates.ts';

/** A website of this host whose plugins and themes are changed. */
export async function changeableWebsite(
  parts: LinuxHostParts,
  { steps, lifecycle, hosted, requireRecord }: WordPressUpdatesOptions,
  install: InstallRef,
): Promise<ChangeableWebsite> {
  const { layout, backups, cgroups, reached } = parts;
  const record = await requireRecord(install);
  const { id, name } = record.state;
  const { sandbox } = await hosted(record);
  return {
    runtime: linuxRuntime(layout, sandbox, cgroups.enter(cgroupOf(id))),
    lookAt: async (signal) => steps.lookAt(await lifecycle.websiteOf(record), signal),
    async withinDisk(work) {
      try {
        return await watchingDisk(layout.folder, undefined, work);
      } catch (error) {
        if (error instanceof DiskFilled) return { failed: error.message };
        throw error;
      }
    },
    resetCaches: () => lifecycle.resetCaches(id),
    measure: (signal) => measureWebsite(layout, sandbox, signal),
    async restore(backupId, signal) {
      await backups.restore(await hosted(record), backupId, { from: { id, name }, signal });
      await lifecycle.serveAgain(record);
    },
    async reached(step) {
      reached?.(step, await lifecycle.websiteOf(record));
    },
  };
}
