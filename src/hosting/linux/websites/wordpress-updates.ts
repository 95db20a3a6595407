import { messageOf } from '../../../lib/error-message.ts';
import { type InstallRef, PermanentHostError, type ReportProgress } from '../../contract/host.ts';
import { exceededLimit } from '../../contract/install-limits.ts';
import {
  type AvailableUpdate,
  CORE_ID,
  type RolledBack,
  type UpdateOrder,
  type UpdateOutcome,
  type WordPressUpdater,
} from '../../contract/wordpress-updates.ts';
import { measureWebsite } from '../backups/measure-website.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { DiskFilled, watchingDisk } from '../machine/disk-watch.ts';
import type { InstallRecord } from '../machine/record.ts';
import { cleanText } from '../wordpress/website-text.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import type { WebsiteSteps } from './provisioning.ts';
import { createUpdateJournal, type UpdateEntry } from './update-journal.ts';
import { findFault, observe } from './website-check.ts';
import type { WebsiteLifecycle } from './website-lifecycle.ts';

/** After so many, the update itself is suspected. */
const MOST_INTERRUPTIONS = 2;

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
  const { layout, websites, backups, log } = parts;
  const journal = createUpdateJournal(layout.updateOf);

  async function store(installId: string, entry: UpdateEntry): Promise<UpdateEntry> {
    await journal.write(installId, entry);
    return entry;
  }

  const lookAt = async (record: InstallRecord, signal: AbortSignal | undefined) =>
    steps.lookAt(await lifecycle.websiteOf(record), signal);

  /** A record of another update is one that was given up: its job restored the checkpoint, or could not. */
  async function begin(
    record: InstallRecord,
    order: UpdateOrder,
    signal?: AbortSignal,
  ): Promise<UpdateEntry> {
    return store(record.state.id, {
      updateId: order.updateId,
      stage: 'ready',
      index: 0,
      wordpressVersion: record.placement.wordpressVersion,
      before: await observe(await lookAt(record, signal), order.pages),
      interruptions: 0,
      made: [],
      rolledBack: null,
    });
  }

  /** The website may be half updated. The first update begins again, unless the host was killed too often meanwhile. */
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
    const again = await store(record.state.id, { ...entry, interruptions, index: 0, made: [] });
    await restore(record, order, entry, signal);
    return again;
  }

  const fail = (record: InstallRecord, entry: UpdateEntry, rolledBack: RolledBack) =>
    store(record.state.id, {
      ...entry,
      stage: 'restoring',
      rolledBack: { ...rolledBack, reason: cleanText(rolledBack.reason) },
    });

  /** Makes the next update and records it. */
  async function makeNext(
    record: InstallRecord,
    entry: UpdateEntry,
    update: AvailableUpdate,
  ): Promise<UpdateEntry> {
    const id = record.state.id;
    const updating = await store(id, { ...entry, stage: 'updating' });
    parts.reached?.('update begun', await lifecycle.websiteOf(record));
    // Neither a lost connection nor a stop aborts it: the next attempt would restore the checkpoint. It continues with the check.
    const made = await make(record, update);
    if ('failed' in made) return fail(record, updating, { update, reason: made.failed });
    await lifecycle.resetCaches(id);
    const checking = await store(id, {
      ...updating,
      stage: 'checking',
      index: updating.index + 1,
      made: [...updating.made, { ...update, to: made.version }],
    });
    parts.reached?.('update made', await lifecycle.websiteOf(record));
    return checking;
  }

  async function make(
    record: InstallRecord,
    update: AvailableUpdate,
  ): Promise<{ version: string } | { failed: string }> {
    if (update.kind === 'core') return makeCore(record, update);
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

  async function makeCore(record: InstallRecord, { to }: AvailableUpdate) {
    if (record.placement.wordpressVersion === to) return { version: to };
    try {
      await lifecycle.switchCore(record, to);
      return { version: to };
    } catch (error) {
      return { failed: messageOf(error).replace(/\.$/, '') };
    }
  }

  /** The first finding that is worse than before all updates; null without one. */
  async function check(
    record: InstallRecord,
    entry: UpdateEntry,
    signal?: AbortSignal,
  ): Promise<string | null> {
    const look = await lookAt(record, signal);
    const fault = await findFault(look, entry.before, entry.made);
    if (fault !== null) return fault;
    const { bytes, files } = layout.limits;
    if (bytes === null && files === null) return null;
    // The checkpoint would have been refused if the website had been too large before.
    return exceededLimit(await measureWebsite(layout, look.install, signal), layout.limits);
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
    const found = await journal.read(install.id);
    const resumed = found?.updateId === order.updateId ? found : null;
    if (resumed?.stage === 'ended') return outcomeOf(resumed);
    const record = () => requireRecord(install);
    let entry = resumed ?? (await begin(await record(), order, signal));
    if (resumed?.stage === 'updating') {
      entry = await afterInterruption(await record(), order, entry, signal);
    }
    for (;;) {
      signal?.throwIfAborted();
      const present = await record();
      if (entry.stage === 'checking') {
        const fault = await check(present, entry, signal);
        if (fault !== null) {
          const update = order.updates[entry.index - 1] ?? null;
          entry = await fail(present, entry, { update, reason: fault });
        }
      }
      if (entry.stage === 'restoring') {
        log.warn(
          { install: install.id, ...entry.rolledBack },
          `rolling back an update of ${install.name}: ${entry.rolledBack?.reason}`,
        );
        await restore(present, order, entry, signal);
        return finish(await record(), { ...entry, made: [] });
      }
      report?.(entry.index, order.updates.length);
      const next = order.updates[entry.index];
      if (next === undefined) return finish(present, entry);
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

function outcomeOf({ made, rolledBack, wordpressVersion }: UpdateEntry): UpdateOutcome {
  const core = made.find(({ kind }) => kind === 'core');
  return { made, rolledBack, wordpressVersion: core?.to ?? wordpressVersion };
}
