import type { Transaction } from '../../database/database.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { Host } from '../../hosting/contract/host.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import type { InstallState, RemovedInstall } from '../../hosting/contract/install-state.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import { timestamp } from '../../lib/clock.ts';
import { defaultDomain } from '../../lib/default-domain.ts';
import type { Platform } from '../../platform/platform.ts';
import { postponing } from '../hosts/host-failures.ts';
import { removeInstall } from '../hosts/removal-job.ts';
import { RESTORE_CHECK_PREFIX } from '../websites/installs/reserved-names.ts';
import { checkRestore, scheduleRestoreCheck } from './jobs.ts';
import {
  type CheckedInstall,
  findCheckedInstall,
  insertRestoreCheck,
  isUnderWay,
  nextToCheck,
} from './restore-check-store.ts';
import { noteVerified } from './store.ts';

/** Restore checks run one at a time, because each needs space for a whole website. */
const LANE = 'restore-check';

/**
 * The jobs that check whether backups can be restored. `host` removes the scratch install wherever it is; `hostOf` gives
 * the host of an install, which holds its backups.
 */
export function restoreCheckKinds(
  platform: Platform,
  host: Host,
  hostOf: (installId: string) => Promise<Host>,
): JobKind[] {
  const { config, database, queue, clock, random, log } = platform;

  async function record(
    transaction: Transaction,
    check: { install_id: string; backup_id: string; took_ms: number; reason: string | null },
  ): Promise<void> {
    const { queries } = transaction;
    // The backup was deleted with its install, or has expired, so its check is moot.
    if (!(await findCheckedInstall(queries, check.install_id, check.backup_id))) return;
    const created_at = timestamp(clock);
    await insertRestoreCheck(queries, { id: random.uuid(), ...check, created_at });
    if (check.reason === null) await noteVerified(queries, check.backup_id, created_at);
  }

  async function restoreInto(
    scratch: InstallState,
    { id, name }: InstallRef,
    backupId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const machine = await hostOf(id);
    await machine.apply(scratch, signal);
    await machine.restore(scratch, backupId, { from: { id, name } }, signal);
    // Resolves only if the restored website answers.
    await machine.apply(scratch, signal);
  }

  const sample = defineJob({
    ...scheduleRestoreCheck,
    async run() {
      if (await isUnderWay(database.reader, checkRestore.name)) return;
      const chosen = await nextToCheck(database.reader);
      if (!chosen) return;
      return async (transaction) => {
        await queue.enqueue(transaction, checkRestore, {
          payload: { ...chosen, scratch_id: random.uuid() },
          lane: LANE,
        });
      };
    },
  });

  const check = defineJob({
    ...checkRestore,
    async run({ backup_id, install_id, scratch_id, host_id }, { signal }) {
      const source = await findCheckedInstall(database.reader, install_id, backup_id);
      const removeScratch = () => postponing(host.remove(doomedScratch(scratch_id, host_id)));
      // An interrupted attempt may have left one.
      if (!source) return removeScratch();
      const scratch = scratchInstall(scratch_id, source, config.siteDomain);
      const began = clock.now().getTime();
      const tookMs = () => clock.now().getTime() - began;
      let outcome: { took_ms: number; reason: string | null };
      try {
        await postponing(restoreInto(scratch, source, backup_id, signal));
        outcome = { took_ms: tookMs(), reason: null };
      } catch (error) {
        if (!(error instanceof PermanentHostError)) throw error;
        outcome = { took_ms: tookMs(), reason: error.message };
        log.error({ err: error, install: source.name, backup: backup_id }, 'failed to restore a backup');
      } finally {
        await removeScratch();
      }
      return (transaction) => record(transaction, { install_id, backup_id, ...outcome });
    },
    async giveUp({ backup_id, install_id, scratch_id, host_id }, { reason }, transaction) {
      await record(transaction, { install_id, backup_id, took_ms: 0, reason });
      // An interrupted attempt has not removed it.
      const { hostId, ...ref } = doomedScratch(scratch_id, host_id);
      await queue.enqueue(transaction, removeInstall, {
        payload: { ...ref, ...(hostId === undefined ? {} : { host_id: hostId }) },
        lane: scratch_id,
      });
    },
  });

  return [sample, check];
}

function scratchRef(id: string): InstallRef {
  return { id, name: `${RESTORE_CHECK_PREFIX}${id.slice(0, 8)}` };
}

function doomedScratch(id: string, hostId: string | null | undefined): RemovedInstall {
  return { ...scratchRef(id), ...(typeof hostId === 'string' ? { hostId } : {}) };
}

function scratchInstall(id: string, source: CheckedInstall, siteDomain: string): InstallState {
  const ref = scratchRef(id);
  const hostname = defaultDomain(ref.name, siteDomain);
  return {
    ...ref,
    primaryHostname: hostname,
    hostnames: [{ name: hostname, redirectTo: null, forceHttps: false, certificate: null }],
    offload: null,
    phpVersion: source.php_version,
    wordpressVersion: source.wordpress_version,
  };
}
