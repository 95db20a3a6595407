import type { InstallRef } from '../../contract/install-ref.ts';
import { linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import type { ChangeableWebsite } from '../../websites/changes/changeable-website.ts';
import { measureWebsite } from '../backups/measure-website.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { DiskFilled, watchingDisk } from '../machine/disk-watch.ts';
import type { InstallRecord } from '../machine/record.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import { cgroupOf, type WebsiteSteps } from './provisioning.ts';
import type { WebsiteLifecycle } from './website-lifecycle.ts';

/** Access to websites for changes, besides the parts of the host. */
export interface WebsiteAccess {
  steps: WebsiteSteps;
  lifecycle: WebsiteLifecycle;
  hosted(record: InstallRecord): Promise<HostedInstall>;
  requireRecord(install: InstallRef): Promise<InstallRecord>;
}

/** A website of this host whose plugins, themes and WordPress are changed. */
export async function changeableWebsite(
  parts: LinuxHostParts,
  { steps, lifecycle, hosted, requireRecord }: WebsiteAccess,
  install: InstallRef,
): Promise<ChangeableWebsite> {
  const { layout, backups, cgroups, cores, reached } = parts;
  const record = await requireRecord(install);
  const { id, name } = record.state;
  const { sandbox } = await hosted(record);
  return {
    runtime: linuxRuntime(layout, sandbox, cgroups.enter(cgroupOf(id))),
    version: record.placement.wordpressVersion,
    versions: cores.list,
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
    async switchCore(version) {
      await lifecycle.switchCore(record, version);
    },
    async restore(backupId, version, signal) {
      const former = await lifecycle.recordCore(record, version);
      await backups.restore(await hosted(former), backupId, { from: { id, name }, signal });
      await lifecycle.serveAgain(former);
    },
    async reached(step) {
      reached?.(step, await lifecycle.websiteOf(record));
    },
  };
}
