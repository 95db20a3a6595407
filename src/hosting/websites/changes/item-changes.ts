import { PermanentHostError } from '../../contract/errors.ts';
import { exceededLimit, hasLimits } from '../../contract/install-limits.ts';
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
import { cleanReason, cleanText } from '../../wordpress/website-text.ts';
import { expectedAfter, mayDiffer } from '../probe/expected-observation.ts';
import { observe } from '../probe/observation.ts';
import { recordedObservation } from '../probe/recorded-observation.ts';
import { checkAgain } from '../probe/website-check.ts';
import { type ChangeEntry, createChangeJournal } from './change-journal.ts';
import type { ChangeableWebsite, ChangeableWebsites } from './changeable-website.ts';
import { type MadeChange, makeItemChange } from './item-changer.ts';

/** Changes plugins and themes of websites of a host. The caller serializes changes of the same website. */
export function createItemChanges({
  websiteOf,
  changeOf,
  limits,
  log,
}: Omit<ChangeableWebsites, 'updateOf'>): WordPressChanger {
  const journal = createChangeJournal(changeOf);

  async function store(installId: string, entry: ChangeEntry): Promise<ChangeEntry> {
    await journal.write(installId, entry);
    return entry;
  }

  /** Neither a lost connection nor a stop aborts it: the next attempt would restore the checkpoint. */
  const make = ({ runtime, withinDisk }: ChangeableWebsite, change: ItemChange): Promise<MadeChange> =>
    withinDisk((limited) => makeItemChange(runtime, change, limited));

  /** A change that pages cannot notice. */
  async function makeUnchecked(website: ChangeableWebsite, change: ItemChange): Promise<ItemOutcome> {
    const made = await make(website, change);
    if ('failed' in made) throw new PermanentHostError(made.failed);
    return 'refused' in made ? made : { changed: made.changed };
  }

  /** Makes the change. Returns its journal entry, or that it was refused. */
  async function makeChecked(
    website: ChangeableWebsite,
    installId: string,
    { changeId, change, pages }: ItemOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<ChangeEntry | { refused: string }> {
    const before = await observe(await website.lookAt(signal), pages);
    const entry: ChangeEntry = { changeId, stage: 'changing', expected: null, changed: null, reason: null };
    await store(installId, entry);
    report?.(0, 1);
    await website.reached?.('change begun');
    const made = await make(website, change).catch(async (error: unknown) => {
      // Nothing was started, so the next attempt begins again.
      await journal.remove(installId);
      throw error;
    });
    if ('refused' in made) {
      await journal.remove(installId);
      return { refused: cleanText(made.refused) };
    }
    if ('failed' in made) return fail(installId, entry, made.failed);
    await website.resetCaches();
    const { changed, ...theme } = made;
    const checking = await store(installId, {
      ...entry,
      stage: 'checking',
      expected: expectedAfter(before, change, { id: changed.id, theme }),
      changed,
    });
    await website.reached?.('change made');
    return checking;
  }

  const fail = (installId: string, entry: ChangeEntry, reason: string, mayKeep = false) =>
    store(installId, { ...entry, stage: 'restoring', reason: cleanReason(reason), mayKeep });

  /** Compares the website with what is expected, and returns the journal entry with the outcome. */
  async function check(
    website: ChangeableWebsite,
    installId: string,
    change: ItemChange,
    entry: ChangeEntry,
    signal?: AbortSignal,
  ): Promise<ChangeEntry> {
    const { expected, changed } = entry;
    if (expected === null || changed === null) return entry;
    const { fault, warning } = await checkAgain(await website.lookAt(signal), recordedObservation(expected), {
      suspects: change.status === 'active' ? [{ kind: change.kind, id: changed.id }] : [],
      isTolerated: (what) => mayDiffer(change, what),
    });
    if (fault !== null) return fail(installId, entry, fault.text, fault.differs !== null);
    if (hasLimits(limits)) {
      const excess = exceededLimit(await website.measure(signal), limits);
      if (excess !== null) return fail(installId, entry, excess);
    }
    return warning === null ? entry : { ...entry, changed: { ...changed, warning } };
  }

  async function run(
    install: InstallRef,
    order: ItemOrder,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<ItemOutcome> {
    const { change, changeId, checkpointId } = order;
    const website = await websiteOf(install);
    if (checkpointId === null) {
      if (needsCheckpoint(change)) throw new PermanentHostError('the change has no checkpoint');
      return makeUnchecked(website, change);
    }
    let entry = await journal.read(install.id, changeId);
    if (entry?.stage === 'ended') return outcomeOf(entry);
    if (entry !== null) report?.(0, 1);
    if (entry?.stage === 'changing') entry = await fail(install.id, entry, 'the host was interrupted');
    if (entry === null) {
      const made = await makeChecked(website, install.id, order, signal, report);
      if ('refused' in made) return made;
      entry = made;
    }
    if (entry.stage === 'checking') entry = await check(website, install.id, change, entry, signal);
    if (entry.stage === 'restoring') {
      log.warn({ install: install.id, reason: entry.reason }, `undoing a change of ${install.name}`);
      await website.restore(checkpointId, website.version, signal);
      await website.reached?.('checkpoint restored');
    }
    const ended = await store(install.id, { ...entry, stage: 'ended' });
    await website.reached?.('change ended');
    return outcomeOf(ended);
  }

  return { changeItem: run };
}

function outcomeOf({ changed, reason, mayKeep = false }: ChangeEntry): ItemOutcome {
  if (reason !== null) return { rolledBack: reason, ...(mayKeep ? { mayKeep } : {}) };
  if (changed === null) throw new Error('a change ended without an outcome');
  return { changed: changed satisfies ChangedItem };
}
