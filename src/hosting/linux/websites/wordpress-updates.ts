import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { exceededLimit } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import {
  type AvailableUpdate,
  CORE_ID,
  type RolledBack,
  type UpdateOrder,
  type UpdateOutcome,
  type WordPressUpdater,
} from '../../contract/wordpress-updates.ts';
import { observe } from '../../websites/probe/observation.ts';
import { recordedObservation } from '../../websites/probe/recorded-observation.ts';
import { type CheckOutcome, checkAgain } from '../../websites/probe/website-check.ts';
import { cleanReason, cleanText } from '../../wordpress/website-text.ts';
import { measureWebsite } from '../backups/measure-website.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { DiskFilled, watchingDisk } from '../machine/disk-watch.ts';
import type { InstallRecord } from '../machine/record.ts';
import { CoreUnchanged } from '../wordpress/switch-core.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import type { WebsiteSteps } from './provisioning.ts';
import { createUpdateJournal, type UpdateEntry } from './update-journal.ts';
import type { WebsiteLifecycle } from './website-lifecycle.ts';

/** After so many, the update itself is suspected. */
const MOST_INTERRUPTIONS = 2;
/** No further update begins after so long, because a rollback loses what visitors wrote since the checkpoint. */
const MOST_MS = 30 * MINUTE_MS;

/** How an update ended before its check. `skipped`: it changed nothing. */
type Attempt = { version: string } | { failed: string } | { skipped: string };

export interface WordPressUpdatesOptions {
  steps: WebsiteSteps;
  lifecycle: WebsiteLifecycle;
  hosted(record: InstallRecord): Promise<HostedInstall>;
  requireRecord(install: InstallRef): Promise<InstallRecord>;
}

/** Updates websites of this host. The caller serializes calls of `updateWordpress` for the same install. */
export function createWordPressUpdates(
  parts: LinuxHostParts,
  { steps, lifecycle, hosted, requireRecord }: WordPressUpdatesOptions,
): WordPressUpdater {
  const { layout, websites, backups, clock, log } = parts;
  const journal = createUpdateJournal(layout.updateOf);

  async function store(installId: string, entry: UpdateEntry): Promise<UpdateEntry> {
    await journal.write(installId, entry);
    return entry;
  }

  const lookAt = async (record: InstallRecord, signal: AbortSignal | undefined) =>
    steps.lookAt(await lifecycle.websiteOf(record), signal);

  async function begin(
    record: InstallRecord,
    order: UpdateOrder,
    signal?: AbortSignal,
  ): Promise<UpdateEntry> {
    return store(record.state.id, {
      updateId: order.updateId,
      stage: 'ready',
      startedAt: clock.now().getTime(),
      updatingSince: null,
      index: 0,
      wordpressVersion: record.placement.wordpressVersion,
      before: await observe(await lookAt(record, signal), order.pages),
      interruptions: 0,
      made: [],
      skipped: [],
      restored: false,
      rolledBack: null,
    });
  }

  /**
   * The website may be half updated. Then the checkpoint is restored and the first update begins again, unless the host was killed too
   * often meanwhile.
   */
  async function afterInterruption(
    record: InstallRecord,
    order: UpdateOrder,
    entry: UpdateEntry,
    signal?: AbortSignal,
  ): Promise<UpdateEntry> {
    const interruptions = entry.interruptions + 1;
    log.warn({ install: record.state.id, interruptions }, 'an update was interrupted');
    if (interruptions > MOST_INTERRUPTIONS) {
      return fail(
        record,
        { ...entry, interruptions },
        {
          update: order.updates[entry.index] ?? null,
          reason: 'the host was interrupted again and again during the update',
        },
      );
    }
    if (await isUntouched(record, order.updates[entry.index], entry.updatingSince)) {
      return store(record.state.id, { ...entry, interruptions, stage: 'ready', updatingSince: null });
    }
    const again = { ...entry, interruptions, index: 0, made: [], skipped: [], restored: true };
    // Without the time, so that an interrupted restore is repeated.
    const restoring = await store(record.state.id, { ...again, updatingSince: null });
    await restore(record, order, entry, signal);
    return store(record.state.id, { ...restoring, stage: 'ready' });
  }

  async function isUntouched(
    record: InstallRecord,
    update: AvailableUpdate | undefined,
    since: number | null,
  ): Promise<boolean> {
    if (update === undefined || update.kind === 'core' || since === null) return false;
    return websites.isUntouched((await hosted(record)).sandbox, update, since);
  }

  const fail = (record: InstallRecord, entry: UpdateEntry, rolledBack: RolledBack) =>
    store(record.state.id, {
      ...entry,
      stage: 'restoring',
      rolledBack: { ...rolledBack, reason: cleanReason(rolledBack.reason) },
    });

  /** Makes the next update and records it. */
  async function makeNext(
    record: InstallRecord,
    entry: UpdateEntry,
    update: AvailableUpdate,
  ): Promise<UpdateEntry> {
    const id = record.state.id;
    const updating = await store(id, {
      ...entry,
      stage: 'updating',
      updatingSince: clock.now().getTime(),
    });
    parts.reached?.('update begun', await lifecycle.websiteOf(record));
    // Neither a lost connection nor a stop aborts it: the next attempt would restore the checkpoint. It continues with the check.
    const made = await make(record, update);
    if ('failed' in made) return fail(record, updating, { update, reason: made.failed });
    await lifecycle.resetCaches(id);
    const checking = await store(id, {
      ...updating,
      stage: 'checking',
      updatingSince: null,
      index: updating.index + 1,
      ...('version' in made
        ? { made: [...updating.made, { ...update, to: made.version }] }
        : { skipped: [...updating.skipped, { update, reason: cleanText(made.skipped) }] }),
    });
    parts.reached?.('update made', await lifecycle.websiteOf(record));
    return checking;
  }

  async function make(record: InstallRecord, update: AvailableUpdate): Promise<Attempt> {
    if (update.kind === 'core') return makeCore(record, update);
    const since = clock.now().getTime();
    const made = await makeItem(record, update);
    if ('version' in made) {
      const { version } = made;
      return version === update.from ? { skipped: `the package has the same version ${version}` } : made;
    }
    // Such as after a failed download, or if others filled the disk.
    return (await isUntouched(record, update, since)) ? { skipped: made.failed } : made;
  }

  async function makeItem(
    record: InstallRecord,
    update: AvailableUpdate,
  ): Promise<{ version: string } | { failed: string }> {
    const { sandbox } = await hosted(record);
    try {
      return await watchingDisk(layout.folder, undefined, (limited) =>
        websites.update(sandbox, update, limited),
      );
    } catch (error) {
      if (error instanceof DiskFilled) return { failed: error.message };
      throw error;
    }
  }

  async function makeCore(record: InstallRecord, { to }: AvailableUpdate): Promise<Attempt> {
    if (record.placement.wordpressVersion === to) return { version: to };
    if (!(await parts.cores.list()).includes(to)) return { skipped: `this host has no WordPress ${to}` };
    try {
      await lifecycle.switchCore(record, to);
      return { version: to };
    } catch (error) {
      const reason = messageOf(error).replace(/\.$/, '');
      return error instanceof CoreUnchanged ? { skipped: reason } : { failed: reason };
    }
  }

  /** The first finding that is worse than before all updates, unless the user keeps it. */
  async function check(
    record: InstallRecord,
    entry: UpdateEntry,
    keep: boolean,
    signal?: AbortSignal,
  ): Promise<CheckOutcome> {
    const look = await lookAt(record, signal);
    const outcome = await checkAgain(look, recordedObservation(entry.before), {
      suspects: entry.made,
      isTolerated: () => keep,
    });
    if (outcome.fault !== null) return outcome;
    const { bytes, files } = layout.limits;
    if (bytes === null && files === null) return outcome;
    // The checkpoint would have been refused if the website had been too large before.
    const excess = exceededLimit(
      await measureWebsite(layout, (await hosted(record)).sandbox, signal),
      layout.limits,
    );
    return excess === null ? outcome : { ...outcome, fault: { text: excess, differs: null } };
  }

  /** Brings back the former WordPress, files and database. */
  async function restore(
    record: InstallRecord,
    { checkpointId }: UpdateOrder,
    { wordpressVersion }: UpdateEntry,
    signal?: AbortSignal,
  ): Promise<void> {
    const { id, name } = record.state;
    const former = await lifecycle.recordCore(record, wordpressVersion);
    await backups.restore(await hosted(former), checkpointId, { from: { id, name }, signal });
    await lifecycle.serveAgain(former);
    parts.reached?.('checkpoint restored', await lifecycle.websiteOf(former));
  }

  async function finish(record: InstallRecord, entry: UpdateEntry): Promise<UpdateOutcome> {
    const ended = await store(record.state.id, { ...entry, stage: 'ended' });
    parts.reached?.('update ended', await lifecycle.websiteOf(record));
    return outcomeOf(ended);
  }

  async function run(
    install: InstallRef,
    order: UpdateOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<UpdateOutcome> {
    const resumed = await journal.read(install.id, order.updateId);
    if (resumed?.stage === 'ended') return outcomeOf(resumed);
    const record = () => requireRecord(install);
    const isBegun = resumed !== null && (resumed.stage !== 'ready' || resumed.index > 0 || resumed.restored);
    if (isBegun) report?.(resumed.index, order.updates.length);
    let entry = resumed ?? (await begin(await record(), order, signal));
    if (resumed?.stage === 'updating') {
      entry = await afterInterruption(await record(), order, entry, signal);
    }
    for (;;) {
      signal?.throwIfAborted();
      const present = await record();
      if (entry.stage === 'checking') {
        const { fault, warning } = await check(present, entry, order.keep ?? false, signal);
        if (fault !== null) {
          const update = order.updates[entry.index - 1] ?? null;
          const mayKeep = fault.differs !== null;
          entry = await fail(present, entry, { update, reason: fault.text, ...(mayKeep ? { mayKeep } : {}) });
        } else {
          // The pages of an earlier warning may have recovered.
          const { warning: _, ...unwarned } = entry;
          entry = warning === null ? unwarned : { ...unwarned, warning };
        }
      }
      if (entry.stage === 'restoring') {
        log.warn(
          { install: install.id, ...entry.rolledBack },
          `rolling back an update of ${install.name}: ${entry.rolledBack?.reason}`,
        );
        await restore(present, order, entry, signal);
        return finish(await record(), { ...entry, made: [], skipped: [], restored: true });
      }
      const next = order.updates[entry.index];
      if (next === undefined) return finish(present, entry);
      if (clock.now().getTime() - entry.startedAt > MOST_MS) {
        return finish(present, withoutTheRest(entry, order.updates));
      }
      report?.(entry.index, order.updates.length);
      entry = await makeNext(present, entry, next);
    }
  }

  return {
    async planUpdates(install, wanted, signal) {
      const record = await requireRecord(install);
      const { placement } = record;
      const { sandbox } = await hosted(record);
      const plan = await websites.plan(sandbox, wanted, signal);
      if (wanted.core === null || wanted.core === placement.wordpressVersion) return plan;
      if (!(await parts.cores.list()).includes(wanted.core)) {
        throw new PermanentHostError(`this host has no WordPress ${wanted.core}`);
      }
      const core: AvailableUpdate = {
        kind: 'core',
        id: CORE_ID,
        name: 'WordPress',
        from: placement.wordpressVersion,
        to: wanted.core,
      };
      return { ...plan, updates: [...plan.updates, core] };
    },
    updateWordpress: run,
  };
}

/** Skips the updates that have not begun. */
function withoutTheRest(entry: UpdateEntry, updates: readonly AvailableUpdate[]): UpdateEntry {
  const reason = `the updates before it took ${MOST_MS / MINUTE_MS} min`;
  const rest = updates.slice(entry.index).map((update) => ({ update, reason }));
  return { ...entry, skipped: [...entry.skipped, ...rest] };
}

function outcomeOf(entry: UpdateEntry): UpdateOutcome {
  const { made, skipped, restored, rolledBack, warning, wordpressVersion } = entry;
  const core = made.find(({ kind }) => kind === 'core');
  return {
    ...{ made, skipped, restored, rolledBack },
    ...(warning === undefined || rolledBack !== null ? {} : { warning }),
    wordpressVersion: core?.to ?? wordpressVersion,
  };
}
