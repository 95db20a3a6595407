import { isUnchanged } from '../../contract/errors.ts';
import type { HostMachine } from '../../contract/host.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { ALL_PARTS, isWhole, type Snapshot } from '../../contract/snapshots.ts';
import { linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import { joinedWarnings, upgradeRestored } from '../../websites/database/upgrade-database.ts';
import type { ImportableWebsite } from '../../websites/imports/importable-website.ts';
import { createWebsiteImports } from '../../websites/imports/website-imports.ts';
import { presentWarning } from '../../websites/probe/present-faults.ts';
import { type AskedEdge, requireWordPress } from '../../wordpress/wordpress-answers.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import type { InstallRecord } from '../machine/record.ts';
import { tryOrLog } from '../machine/try-or-log.ts';
import type { WebsiteAccess } from './changeable-website.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import { cgroupOf, visitedWebsite } from './provisioning.ts';

export interface ReplacementsOptions extends WebsiteAccess {
  /** Where this machine's web server answers requests of the host itself. */
  askedAt(): AskedEdge;
}

/** Restores and imports websites of this host. The caller serializes calls for the same install. */
export function createWebsiteReplacements(
  { layout, backups, cgroups, cores, imports, log }: LinuxHostParts,
  { steps, lifecycle, hosted, requireRecord, askedAt }: ReplacementsOptions,
): Pick<HostMachine, 'restore' | 'importWebsite' | 'lastImport' | 'stageSnapshot' | 'restoreChanges'> {
  /** The website is in place whatever the probe finds, and a failure of the probe itself must not undo it. */
  async function warn(record: InstallRecord, signal: AbortSignal | undefined): Promise<{ warning?: string }> {
    let warning: string | null = null;
    await tryOrLog(log, `could not check the website ${record.state.name}`, async () => {
      warning = await presentWarning(await steps.lookAt(await lifecycle.websiteOf(record), signal));
    });
    return warning === null ? {} : { warning };
  }

  async function upgrade(record: InstallRecord, signal: AbortSignal | undefined): Promise<string | null> {
    const { sandbox } = await hosted(record);
    const { id } = record.state;
    return upgradeRestored(linuxRuntime(layout, sandbox, cgroups.enter(cgroupOf(id))), signal);
  }

  /** Exchanges a website for one of a backup, with the WordPress of that if this host has it, and serves it again. */
  async function replace(
    install: InstallRef,
    wordpressVersion: string | undefined,
    work: (website: HostedInstall) => Promise<Snapshot>,
  ): Promise<{ record: InstallRecord; snapshot: Snapshot }> {
    const present = await requireRecord(install);
    await lifecycle.makeFolders(present);
    // A host that no longer has that version keeps the present one, which works with the database after an upgrade.
    const core = (await cores.list()).find((version) => version === wordpressVersion);
    const record = core === undefined ? present : await lifecycle.recordCore(present, core);
    const snapshot = await work(await hosted(record)).catch(async (error: unknown) => {
      // The website still has the WordPress that it runs.
      const { wordpressVersion: kept } = present.placement;
      if (isUnchanged(error))
        await tryOrLog(log, 'could not record the WordPress of an unchanged website', async () => {
          await lifecycle.recordCore(record, kept);
        });
      throw error;
    });
    if (core === undefined) {
      await lifecycle.settleReplaced(install.id);
      await lifecycle.resetCaches(install.id);
    } else await lifecycle.serveAgain(record);
    return { record, snapshot };
  }

  /** A website of this host as an import replaces it. */
  async function importable(install: InstallRef): Promise<ImportableWebsite> {
    const record = await requireRecord(install);
    return {
      ...imports.of(await hosted(record)),
      recover: () => backups.recover(install.id),
      async serve(signal) {
        await lifecycle.noteFilled(install.id);
        await lifecycle.settleReplaced(install.id);
        await lifecycle.resetCaches(install.id);
        await requireWordPress(visitedWebsite(record.state), askedAt(), signal);
      },
      warning: async (signal) => (await warn(record, signal)).warning ?? null,
    };
  }

  return {
    async restore(
      install,
      backupId,
      { from: copied, parts, wordpressVersion, restoreId, base } = {},
      signal,
      report,
    ) {
      const from = copied ?? install;
      const { record, snapshot } = await replace(install, wordpressVersion, async (website) => {
        const restored = await backups.restore(website, backupId, {
          ...{ from, parts, restoreId, base, signal, report },
        });
        if (isWhole(parts ?? ALL_PARTS)) await lifecycle.noteFilled(install.id);
        return restored;
      });
      const upgraded = parts?.database === 'none' ? null : await upgrade(record, signal);
      // A copy must answer. A restored install returns to its own former state, even if that did not answer.
      if (from.id !== install.id) await requireWordPress(visitedWebsite(record.state), askedAt(), signal);
      const { warning: seen = null } = await warn(record, signal);
      const warning = joinedWarnings([upgraded, seen]);
      return warning === null ? snapshot : { ...snapshot, warning };
    },

    async stageSnapshot(install, backupId, signal, report) {
      const present = await requireRecord(install);
      await lifecycle.makeFolders(present);
      await backups.copies.stage(await hosted(present), backupId, signal, report);
    },

    async restoreChanges(install, backupId, { baseId, wordpressVersion }, signal, report) {
      const { record, snapshot } = await replace(install, wordpressVersion, (website) =>
        backups.copies.restoreChanges(website, backupId, baseId, signal, report),
      );
      await upgrade(record, signal);
      return snapshot;
    },

    ...createWebsiteImports({ websiteOf: importable, log }),
  };
}
