import { PermanentHostError } from '../../contract/errors.ts';
import { exceededLimit } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import {
  type ChangedItem,
  type ItemChange,
  type ItemOrder,
  type ItemOutcome,
  needsCheckpoint,
  type WordPressChanger,
} from '../../contract/wordpress-changes.ts';
import { expectedAfter, mayDiffer } from '../../websites/probe/expected-observation.ts';
import { observe } from '../../websites/probe/observation.ts';
import { recordedObservation } from '../../websites/probe/recorded-observation.ts';
import { checkAgain } from '../../websites/probe/website-check.ts';
import { cleanReason, cleanText } from '../../wordpress/website-text.ts';
import { measureWebsite } from '../backups/measure-website.ts';
import { DiskFilled, watchingDisk } from '../machine/disk-watch.ts';
import type { InstallRecord } from '../machine/record.ts';
import type { MadeChange } from '../wordpress/item-changer.ts';
import { type ChangeEntry, createChangeJournal } from './change-journal.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import type { WordPressUpdatesOptions } from './wordpress-updates.ts';

/** Changes plugins and themes of websites of this host. The caller serializes calls for the same install. */
export function createWordPressChanges(
  parts: LinuxHostParts,
  { steps, lifecycle, hosted, requireRecord }: WordPressUpdatesOptions,
): WordPressChanger {
  const { layout, websites, backups, log } = parts;
  const journal = createChangeJournal(layout.changeOf);

  async function store(installId: string, entry: ChangeEntry): Promise<ChangeEntry> {
    await journal.write(installId, entry);
    return entry;
  }

  const lookAt = async (record: InstallRecord, signal: AbortSignal | undefined) =>
    steps.lookAt(await lifecycle.websiteOf(record), signal);

  /** Neither a lost connection nor a stop aborts it: the next attempt would restore the checkpoint. */
  async function make(record: InstallRecord, change: ItemChange): Promise<MadeChange> {
    const { sandbox } = await hosted(record);
    try {
      return await watchingDisk(layout.folder, undefined, (limited) =>
        websites.change(sandbox, change, limited),
      );
    } catch (error) {
      if (error instanceof DiskFilled) return { failed: error.message };
      throw error;
    }
  }

  /** A change that pages cannot notice. */
  async function makeUnchecked(record: InstallRecord, change: ItemChange): Promise<ItemOutcome> {
    const made = await make(record, change);
    if ('failed' in made) throw new PermanentHostError(made.failed);
    return 'refused' in made ? made : { changed: made.changed };
  }

  /** Makes the change. Returns its journal entry, or that it was refused. */
  async function makeChecked(
    record: InstallRecord,
    { changeId, change, pages }: ItemOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<ChangeEntry | { refused: string }> {
    const { id } = record.state;
    const before = await observe(await lookAt(record, signal), pages);
    const entry: ChangeEntry = { changeId, stage: 'changing', expected: null, changed: null, reason: null };
    await store(id, entry);
    report?.(0, 1);
    parts.reached?.('change begun', await lifecycle.websiteOf(record));
    const made = await make(record, change);
    if ('refused' in made) {
      await journal.remove(id);
      return { refused: cleanText(made.refused) };
    }
    if ('failed' in made) return fail(record, entry, made.failed);
    await lifecycle.resetCaches(id);
    const { changed, ...theme } = made;
    const checking = await store(id, {
      ...entry,
      stage: 'checking',
      expected: expectedAfter(before, change, { id: changed.id, theme }),
      changed,
    });
    parts.reached?.('change made', await lifecycle.websiteOf(record));
    return checking;
  }

  const fail = (record: InstallRecord, entry: ChangeEntry, reason: string, mayKeep = false) =>
    store(record.state.id, { ...entry, stage: 'restoring', reason: cleanReason(reason), mayKeep });

  /** Compares the website with what is expected, and returns the journal entry with the outcome. */
  async function check(
    record: InstallRecord,
    change: ItemChange,
    entry: ChangeEntry,
    signal?: AbortSignal,
  ): Promise<ChangeEntry> {
    const { expected, changed } = entry;
    if (expected === null || changed === null) return entry;
    const look = await lookAt(record, signal);
    const { fault, warning } = await checkAgain(look, recordedObservation(expected), {
      suspects: change.status === 'active' ? [{ kind: change.kind, id: changed.id }] : [],
      isTolerated: (what) => mayDiffer(change, what),
    });
    if (fault !== null) return fail(record, entry, fault.text, fault.differs !== null);
    const { bytes, files } = layout.limits;
    if (bytes !== null || files !== null) {
      const excess = exceededLimit(
        await measureWebsite(layout, (await hosted(record)).sandbox, signal),
        layout.limits,
      );
      if (excess !== null) return fail(record, entry, excess);
    }
    return warning === null ? entry : { ...entry, changed: { ...changed, warning } };
  }

  async function restore(record: InstallRecord, checkpointId: string, signal?: AbortSignal): Promise<void> {
    const { id, name } = record.state;
    await backups.restore(await hosted(record), checkpointId, { from: { id, name }, signal });
    await lifecycle.serveAgain(record);
  }

  async function run(
    install: InstallRef,
    order: ItemOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<ItemOutcome> {
    const { change, changeId, checkpointId } = order;
    const record = await requireRecord(install);
    if (checkpointId === null) {
      if (needsCheckpoint(change)) throw new PermanentHostError('the change has no checkpoint');
      return makeUnchecked(record, change);
    }
    let entry = await journal.read(install.id, changeId);
    if (entry?.stage === 'ended') return outcomeOf(entry);
    if (entry !== null) report?.(0, 1);
    if (entry?.stage === 'changing') entry = await fail(record, entry, 'the host was interrupted');
    if (entry === null) {
      const made = await makeChecked(record, order, signal, report);
      if ('refused' in made) return made;
      entry = made;
    }
    if (entry.stage === 'checking') entry = await check(record, change, entry, signal);
    if (entry.stage === 'restoring') {
      log.warn({ install: install.id, reason: entry.reason }, `undoing a change of ${install.name}`);
      await restore(record, checkpointId, signal);
      parts.reached?.('checkpoint restored', await lifecycle.websiteOf(record));
    }
    const ended = await store(install.id, { ...entry, stage: 'ended' });
    parts.reached?.('change ended', await lifecycle.websiteOf(record));
    return outcomeOf(ended);
  }

  return { changeItem: run };
}

function outcomeOf({ changed, reason, mayKeep = false }: ChangeEntry): ItemOutcome {
  if (reason !== null) return { rolledBack: reason, ...(mayKeep ? { mayKeep } : {}) };
  if (changed === null) throw new Error('a change ended without an outcome');
  return { changed: changed satisfies ChangedItem };
}
