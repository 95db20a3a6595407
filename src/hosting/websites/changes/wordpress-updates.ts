import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { exceededLimit, hasLimits } from '../../contract/install-limits.ts';
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
import { cleanReason, cleanText } from '../../wordpress/website-text.ts';
import { observe } from '../probe/observation.ts';
import { recordedObservation } from '../probe/recorded-observation.ts';
import { type CheckOutcome, checkAgain } from '../probe/website-check.ts';
import { type ChangeableWebsite, type ChangeableWebsites, CoreUnchanged } from './changeable-website.ts';
import { isItemUntouched, planItemUpdates, updateItem } from './item-updates.ts';
import { createUpdateJournal, type UpdateEntry } from './update-journal.ts';

/** After so many, the update itself is suspected. */
const MOST_INTERRUPTIONS = 2;
/** No further update begins after so long, because a rollback loses what visitors wrote since the checkpoint. */
const MOST_MS = 30 * MINUTE_MS;

/** How an update ended before its check. `skipped`: it changed nothing. */
type Attempt = { version: string } | { failed: string } | { skipped: string };

/** Updates websites of a host. The caller serializes calls of `updateWordpress` for the same install. */
export function createWordPressUpdates({
  websiteOf,
  updateOf,
  limits,
  clock,
  log,
}: Omit<ChangeableWebsites, 'changeOf'> & { clock: Clock }): WordPressUpdater {
  const journal = createUpdateJournal(updateOf);

  async function store(installId: string, entry: UpdateEntry): Promise<UpdateEntry> {
    await journal.write(installId, entry);
    return entry;
  }

  async function begin(
    { id }: InstallRef,
    website: ChangeableWebsite,
    order: UpdateOrder,
    signal?: AbortSignal,
  ): Promise<UpdateEntry> {
    return store(id, {
      updateId: order.updateId,
      stage: 'ready',
      startedAt: clock.now().getTime(),
      updatingSince: null,
      index: 0,
      wordpressVersion: website.version,
      before: await observe(await website.lookAt(signal), order.pages),
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
    { id }: InstallRef,
    website: ChangeableWebsite,
    order: UpdateOrder,
    entry: UpdateEntry,
    signal?: AbortSignal,
  ): Promise<UpdateEntry> {
    const interruptions = entry.interruptions + 1;
    const interrupted = order.updates[entry.index];
    log.warn({ install: id, interruptions }, 'an update was interrupted');
    if (interruptions > MOST_INTERRUPTIONS) {
      const reason = 'the host was interrupted again and again during the update';
      return fail(id, { ...entry, interruptions }, { update: interrupted ?? null, reason });
    }
    if (await isUntouched(website, interrupted, entry.updatingSince)) {
      return store(id, { ...entry, interruptions, stage: 'ready', updatingSince: null });
    }
    const again = { ...entry, interruptions, index: 0, made: [], skipped: [], restored: true };
    // Without the time, so that an interrupted restore is repeated.
    const restoring = await store(id, { ...again, updatingSince: null });
    await restore(website, order, entry, signal);
    return store(id, { ...restoring, stage: 'ready' });
  }

  async function isUntouched(
    { runtime }: ChangeableWebsite,
    update: AvailableUpdate | undefined,
    since: number | null,
  ): Promise<boolean> {
    if (update === undefined || update.kind === 'core' || since === null) return false;
    return isItemUntouched(runtime, update, since);
  }

  const fail = (installId: string, entry: UpdateEntry, rolledBack: RolledBack) =>
    store(installId, {
      ...entry,
      stage: 'restoring',
      rolledBack: { ...rolledBack, reason: cleanReason(rolledBack.reason) },
    });

  /** Makes the next update and records it. */
  async function makeNext(
    { id }: InstallRef,
    website: ChangeableWebsite,
    entry: UpdateEntry,
    update: AvailableUpdate,
  ): Promise<UpdateEntry> {
    const updating = await store(id, {
      ...entry,
      stage: 'updating',
      updatingSince: clock.now().getTime(),
    });
    await website.reached?.('update begun');
    // Neither a lost connection nor a stop aborts it: the next attempt would restore the checkpoint. It continues with the check.
    const made = await make(website, update).catch(async (error: unknown) => {
      // Nothing was started, so the next attempt begins this update again.
      await store(id, entry);
      throw error;
    });
    if ('failed' in made) return fail(id, updating, { update, reason: made.failed });
    await website.resetCaches();
    const checking = await store(id, {
      ...updating,
      stage: 'checking',
      updatingSince: null,
      index: updating.index + 1,
      ...('version' in made
        ? { made: [...updating.made, { ...update, to: made.version }] }
        : { skipped: [...updating.skipped, { update, reason: cleanText(made.skipped) }] }),
    });
    await website.reached?.('update made');
    return checking;
  }

  /** Rejects if nothing could be started. */
  async function make(website: ChangeableWebsite, update: AvailableUpdate): Promise<Attempt> {
    if (update.kind === 'core') return makeCore(website, update);
    const since = clock.now().getTime();
    const made = await website.withinDisk((limited) => updateItem(website.runtime, update, limited));
    if ('version' in made) {
      const { version } = made;
      return version === update.from ? { skipped: `the package has the same version ${version}` } : made;
    }
    // Such as after a failed download, or if others filled the disk.
    const isSame = await isUntouched(website, update, since).catch(() => false);
    return isSame ? { skipped: made.failed } : made;
  }

  async function makeCore(website: ChangeableWebsite, { to }: AvailableUpdate): Promise<Attempt> {
    if (website.version === to) return { version: to };
    if (!(await website.versions()).includes(to)) return { skipped: `this host has no WordPress ${to}` };
    try {
      await website.switchCore(to);
      return { version: to };
    } catch (error) {
      const reason = messageOf(error).replace(/\.$/, '');
      return error instanceof CoreUnchanged ? { skipped: reason } : { failed: reason };
    }
  }

  /** The first finding that is worse than before all updates, unless the user keeps it. */
  async function check(
    website: ChangeableWebsite,
    entry: UpdateEntry,
    keep: boolean,
    signal?: AbortSignal,
  ): Promise<CheckOutcome> {
    const outcome = await checkAgain(await website.lookAt(signal), recordedObservation(entry.before), {
      suspects: entry.made,
      isTolerated: () => keep,
    });
    if (outcome.fault !== null || !hasLimits(limits)) return outcome;
    // The checkpoint would have been refused if the website had been too large before.
    const excess = exceededLimit(await website.measure(signal), limits);
    return excess === null ? outcome : { ...outcome, fault: { text: excess, differs: null } };
  }

  /** Brings back the former WordPress, files and database. */
  async function restore(
    website: ChangeableWebsite,
    { checkpointId }: UpdateOrder,
    { wordpressVersion }: UpdateEntry,
    signal?: AbortSignal,
  ): Promise<void> {
    await website.restore(checkpointId, wordpressVersion, signal);
    await website.reached?.('checkpoint restored');
  }

  async function finish(
    { id }: InstallRef,
    website: ChangeableWebsite,
    entry: UpdateEntry,
  ): Promise<UpdateOutcome> {
    const ended = await store(id, { ...entry, stage: 'ended' });
    await website.reached?.('update ended');
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
    const isBegun = resumed !== null && (resumed.stage !== 'ready' || resumed.index > 0 || resumed.restored);
    if (isBegun) report?.(resumed.index, order.updates.length);
    let entry = resumed ?? (await begin(install, await websiteOf(install), order, signal));
    if (resumed?.stage === 'updating') {
      entry = await afterInterruption(install, await websiteOf(install), order, entry, signal);
    }
    for (;;) {
      signal?.throwIfAborted();
      // Another WordPress makes it another website.
      const website = await websiteOf(install);
      if (entry.stage === 'checking') {
        const { fault, warning } = await check(website, entry, order.keep ?? false, signal);
        if (fault !== null) {
          const update = order.updates[entry.index - 1] ?? null;
          const mayKeep = fault.differs !== null;
          entry = await fail(install.id, entry, {
            update,
            reason: fault.text,
            ...(mayKeep ? { mayKeep } : {}),
          });
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
        await restore(website, order, entry, signal);
        return finish(install, website, { ...entry, made: [], skipped: [], restored: true });
      }
      const next = order.updates[entry.index];
      if (next === undefined) return finish(install, website, entry);
      if (clock.now().getTime() - entry.startedAt > MOST_MS) {
        return finish(install, website, withoutTheRest(entry, order.updates));
      }
      report?.(entry.index, order.updates.length);
      entry = await makeNext(install, website, entry, next);
    }
  }

  return {
    async planUpdates(install, wanted, signal) {
      const { runtime, version, versions } = await websiteOf(install);
      const plan = await planItemUpdates(runtime, wanted, signal);
      if (wanted.core === null || wanted.core === version) return plan;
      if (!(await versions()).includes(wanted.core)) {
        throw new PermanentHostError(`this host has no WordPress ${wanted.core}`);
      }
      const core: AvailableUpdate = {
        kind: 'core',
        id: CORE_ID,
        name: 'WordPress',
        from: version,
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
