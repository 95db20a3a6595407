import { setImmediate as nextTurn } from 'node:timers/promises';
import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import type { InstallStatus } from '../../database/tables/installs.ts';
import { requireNotMoved } from '../../database/to-postgres/moved-mark.ts';
import { type HeldInstall, INVENTORY_PAGE, type Inventory } from '../../hosting/contract/inventory.ts';
import { stateDigest } from '../../hosting/contract/state-digest.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Platform } from '../../platform/platform.ts';
import { checkRestore } from '../backups/jobs.ts';
import { removeInstall } from '../hosts/removal-job.ts';
import { payloadsOf } from '../hosts/store.ts';
import { applyInstall } from '../websites/installs/jobs.ts';
import { deletedIds } from './deleted-installs/store.ts';
import { loadDesiredState } from './desired-state.ts';
import { leftInstalls } from './left-installs-store.ts';
import { storeLostData } from './lost-data-store.ts';
import { movingInstalls } from './moves/store.ts';
import {
  activeInstallsOf,
  installsOf,
  isLaneBusy,
  providePlatformId,
  replaceOrphans,
} from './orphan-store.ts';

/** Why a host keeps serving websites without a row in the database. */
export type Refusal = 'another platform' | 'no website known';

export interface Reconciled {
  /** Null if the host belongs to this platform; its unknown websites are then set aside. */
  refusal: Refusal | null;
  /** Installs on the host without a row. */
  orphans: HeldInstall[];
  /** Active installs on the host with a row, for {@link applyChanged}. */
  known: HeldInstall[];
}

export interface ReconcileOptions {
  /** The operator has confirmed that the host belongs to this platform. */
  accepted?: boolean;
}

/**
 * Compares the installs on a host with the database, sets unknown ones aside and records them for the operator.
 *
 * A server that still runs on a database that was moved changes nothing: it would set aside what was made since. Rejects then.
 *
 * The host is queried before the database. An install's row is committed before its host gets it, so a pending install
 * never looks like an orphan.
 */
export async function reconcileHost(
  platform: Platform,
  inventory: Inventory,
  host: string,
  { accepted = false }: ReconcileOptions = {},
): Promise<Reconciled> {
  const { database, clock, random, log } = platform;
  await requireNotMoved(database);
  const own = await providePlatformId(database, random.uuid());
  // Before the host is asked, so that a website which is being made meanwhile does not count as lost.
  const expected = new Set(await activeInstallsOf(database.reader, host));
  const { belongsTo, held, known, strangers } = await compareHeld(database.reader, inventory, host);
  const active = held.filter(({ id }) => known.get(id) === 'active');

  // They are served elsewhere, so no refusal may keep them served here too.
  const left = belongsTo === own ? await leftInstalls(database.reader, host) : new Set<string>();
  const twice = held.filter(({ id, digest }) => digest !== null && left.has(id) && !known.has(id));
  for (const page of pagesOf(twice.map(({ id }) => id))) await inventory.setAside(own, page);
  const unknown = strangers.filter(({ id }) => !left.has(id));
  const refusal = accepted
    ? null
    : refusalOf({ own, belongsTo, strangers: unknown, someKnown: known.size > 0 });
  let orphans = strangers;
  if (refusal === null) {
    if (belongsTo !== own) await inventory.belongTo(own);
    const kept = new Set<string>();
    for (const page of pagesOf(strangers.map(({ id }) => id))) {
      for (const id of await inventory.setAside(own, page)) kept.add(id);
    }
    orphans = strangers.filter(({ id }) => kept.has(id));
    const news = orphans.filter(({ digest }) => digest !== null);
    if (news.length > 0) {
      log.warn(
        { host, installs: news.slice(0, NAMED).map(({ id, name }) => ({ id, name })), count: news.length },
        'websites that the database does not know are no longer served; their data is kept ("homeport install orphans")',
      );
    }
  } else {
    log.error({ host, count: strangers.length }, refusalSentence(refusal));
  }
  const present = new Set(held.map(({ id }) => id));
  const absent = refusal === null ? [...expected].filter((id) => !present.has(id)) : [];
  const made = active.filter(({ id }) => expected.has(id));
  const missing = await storeLostData(database, made, absent);
  await database.write(({ queries }) =>
    replaceOrphans(
      queries,
      host,
      orphans.map(({ id, name, hostnames, digest }) => ({
        id,
        name,
        hostnames,
        is_served: refusal !== null && digest !== null && !left.has(id),
        found_at: timestamp(clock),
      })),
    ),
  );
  if (missing.length > 0) {
    log.error(
      { host, installs: missing.slice(0, NAMED), count: missing.length },
      'websites are missing on their machine. Nothing is made in their place: bring their data back, or see "homeport install apply --help"',
    );
  }
  return { refusal, orphans, known: active };
}

/** Lists the installs on a host and the statuses of those in the database. */
export async function compareHeld(
  queries: Queries,
  inventory: Inventory,
  host: string,
): Promise<{
  belongsTo: string | null;
  held: HeldInstall[];
  /** The status of each known install, by id. */
  known: Map<string, InstallStatus>;
  strangers: HeldInstall[];
}> {
  const { belongsTo, held } = await listHeld(inventory);
  const known = new Map<string, InstallStatus>();
  for (const page of pagesOf(held.map(({ id }) => id))) {
    for (const { id, status } of await installsOf(queries, host, page)) known.set(id, status);
  }
  const passing = new Set([...(await passingInstalls(queries)), ...(await movingInstalls(queries, host))]);
  const strangers = held.filter(({ id }) => !known.has(id) && !passing.has(id));
  return { belongsTo, held, known, strangers };
}

/** Limit on the installs named in one log line. */
const NAMED = 10;

/** A foreign or empty database must not take a host's websites offline. Without served websites there is no risk. */
function refusalOf(found: {
  own: string;
  belongsTo: string | null;
  strangers: HeldInstall[];
  someKnown: boolean;
}): Refusal | null {
  if (found.strangers.every(({ digest }) => digest === null)) return null;
  if (found.belongsTo !== null && found.belongsTo !== found.own) return 'another platform';
  return found.someKnown ? null : 'no website known';
}

/** The reason of a refusal and the operator's remedy. */
export function refusalSentence(refusal: Refusal): string {
  const cause =
    refusal === 'another platform'
      ? 'The host belongs to another platform, and still serves websites that this database does not know.'
      : 'The host serves websites, and this database knows none of them.';
  return (
    `${cause} Check HOMEPORT_DATABASE_URL and HOMEPORT_DATA_DIR. ` +
    'If this is the right database, "homeport host adopt" stops serving what it does not know.'
  );
}

async function listHeld(inventory: Inventory): Promise<{ belongsTo: string | null; held: HeldInstall[] }> {
  const held: HeldInstall[] = [];
  for (;;) {
    const { platform, installs } = await inventory.heldInstalls(held.at(-1)?.id ?? null);
    if (installs.length === 0) return { belongsTo: platform, held };
    held.push(...installs);
  }
}

function* pagesOf(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += INVENTORY_PAGE) yield ids.slice(at, at + INVENTORY_PAGE);
}

/** Installs without a row that the platform knows: deleted ones with kept backups, websites in removal, scratch installs of restore checks. */
async function passingInstalls(queries: Queries): Promise<Set<string>> {
  const unfinished = ['queued', 'running'] as const;
  const removed = await payloadsOf(queries, removeInstall.name, unfinished);
  const kept = await deletedIds(queries);
  const tried = await payloadsOf(queries, checkRestore.name, unfinished);
  return new Set([
    ...kept,
    ...removed.flatMap((payload) => (Value.Check(removeInstall.payload, payload) ? payload.id : [])),
    ...tried.flatMap((payload) => (Value.Check(checkRestore.payload, payload) ? payload.scratch_id : [])),
  ]);
}

/** Yields between batches, so that requests are answered. */
const COMPARED_AT_ONCE = 20;

/**
 * Enqueues `apply_install` for each install whose served state differs from the database, unless its lane is busy. One that is set aside is brought back
 * before all that waits for it.
 */
export async function applyChanged(
  platform: Platform,
  installs: readonly HeldInstall[],
  signal: AbortSignal,
): Promise<void> {
  const { database, queue, log } = platform;
  const unusable: { install: string; error: unknown }[] = [];
  let done = 0;
  for (const { id, digest, lost = [] } of installs) {
    // Nothing of it is served, and nothing of it could be.
    if (digest === null && lost.length > 0) continue;
    if (++done % COMPARED_AT_ONCE === 0) await nextTurn();
    if (signal.aborted) return;
    const desired = await loadDesiredState(platform, id).catch((error: unknown) => {
      unusable.push({ install: id, error });
      return undefined;
    });
    if (desired === undefined || stateDigest(desired) === digest) continue;
    const asked = await database.write(async (transaction) => {
      // What waits for a website that was set aside would fail.
      const isAside = digest === null;
      if (!isAside && (await isLaneBusy(transaction.queries, id))) return false;
      await queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id, ahead: isAside });
      return true;
    });
    if (asked) log.info({ install: id }, 'a website differs from the database; applying it again');
  }
  const [first] = unusable;
  if (first === undefined) return;
  const { install, error: err } = first;
  log.warn({ err, install, count: unusable.length }, 'could not compare installs with their websites');
}
