import { readdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { removeDurably } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { MissingWebsiteError, PermanentHostError } from '../../contract/errors.ts';
import type { InstallState, RemovalOptions, RemovedInstall } from '../../contract/install-state.ts';
import { type Observation, observe } from '../../websites/probe/observation.ts';
import { findFault } from '../../websites/probe/website-check.ts';
import { UrlsNotReplacedError } from '../../websites/urls/replace-urls.ts';
import { flushRedis } from '../daemons/redis.ts';
import { isHeld } from '../machine/held.ts';
import type { JournalEntry } from '../machine/journal.ts';
import { findPhpRuntimes, type PhpRuntime, preferredRuntime } from '../machine/php-runtimes.ts';
import type { InstallRecord, Placement, SeenData } from '../machine/record.ts';
import { createSaga } from '../machine/saga.ts';
import { tryOrLog } from '../machine/try-or-log.ts';
import { drainPhp, endRequests } from '../php/fpm.ts';
import { createAvailableVersions } from './available-versions.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import {
  addressOf,
  cgroupOf,
  phpDaemon,
  redisDaemon,
  type Website,
  type WebsiteRemains,
  type WebsiteSteps,
} from './provisioning.ts';
import { readWebsiteData } from './read-website-data.ts';
import { judgeData } from './website-losses.ts';

/** Creates, changes and removes websites of this host. The caller serializes calls for the same install. */
export interface WebsiteLifecycle {
  /** Removes what an interrupted provisioning or removal left, and its journal entry. */
  undo(entry: JournalEntry): Promise<void>;
  /**
   * Restores an existing website's processes. Rejects if that fails, or if the website lost data: it is then closed to visitors until a
   * later attempt finds the data again.
   */
  bringUp(record: InstallRecord): Promise<void>;
  /** Compares the website's data with its record. Closes a website that lost some, and opens it when all is back. */
  settle(record: InstallRecord): Promise<InstallRecord>;
  /** Makes the folders that a website lacks if its home is lost, so that a restore can fill them. */
  makeFolders(record: InstallRecord): Promise<void>;
  /** As {@link settle}, after files or tables were replaced: what the website had before says nothing. */
  settleReplaced(installId: string): Promise<void>;
  /** Provisions the website, whole or not at all, or changes an existing one to `state`. If that was not made before, no restore is awaited any more. */
  apply(state: InstallState, signal?: AbortSignal): Promise<InstallRecord>;
  /** See `Host.makeForRestore`. */
  makeForRestore(state: InstallState, signal?: AbortSignal): Promise<void>;
  /** Notes that a restore has filled a website made for it. {@link settleReplaced} then opens it. */
  noteFilled(installId: string): Promise<void>;
  /** Removes it, with its backups unless they are kept. Succeeds if it is missing. */
  remove(install: RemovedInstall, options?: RemovalOptions): Promise<void>;
  /** Stops serving it and ends its processes, but keeps its data until `apply` brings it back. Succeeds if it is missing. */
  setAside(installId: string): Promise<void>;
  /** See `WebsiteMover`. `until`: ISO 8601. */
  hold(installId: string, until: string | null): Promise<void>;
  release(installId: string): Promise<void>;
  handOver(installId: string): Promise<void>;
  /** See `Host.replaceUrls`. */
  replaceUrls(installId: string, signal?: AbortSignal): Promise<void>;
  /** Empties PHP's memory and both caches of a website whose content was replaced. */
  resetCaches(installId: string): Promise<void>;
  /** Switches it to another WordPress of this host with its database. If that fails, it stays as it is. Keeps no dump. */
  switchCore(record: InstallRecord, version: string): Promise<InstallRecord>;
  /** Records another WordPress of this host; the links of the files and the database follow by a restore. */
  recordCore(record: InstallRecord, version: string): Promise<InstallRecord>;
  /** Serves it again after its files and database were replaced, perhaps with another WordPress. */
  serveAgain(record: InstallRecord): Promise<void>;
  /** The website of a record, on an available PHP version. */
  websiteOf(record: InstallRecord): Promise<Website>;
}

/** A hold that ends sooner is taken for ended, because the hand-over takes time. */
const HAND_OVER_MS = 5_000;

export function createWebsiteLifecycle(parts: LinuxHostParts, steps: WebsiteSteps): WebsiteLifecycle {
  const { layout, records, aside, journal, live, backups, log } = parts;
  const versions = createAvailableVersions(layout, parts.cores);
  const saga = createSaga(steps.stages, {
    reached: parts.reached,
    onUndoFailure: (err, step, { id }) =>
      log.error({ err, step, install: id }, 'could not remove a part of a website'),
  });

  /** If this fails, the journal entry stays, and the removal is retried at the next start. */
  async function tryToUndo(entry: JournalEntry): Promise<void> {
    await tryOrLog(log, `could not remove the unfinished website ${entry.name}`, () => undo(entry));
  }

  async function undo(entry: JournalEntry): Promise<void> {
    if ((await records.read(entry.id)) === null) {
      log.info({ install: entry.id }, 'removing a website whose provisioning was interrupted');
      await saga.undo(entry);
    }
    await journal.end(entry.id);
  }

  async function bringUp(record: InstallRecord): Promise<void> {
    await backups.recover(record.state.id);
    const website = await websiteOf(record);
    live.set({ ...record, sandbox: await steps.sandboxOf(website) });
    await steps.ensureServices(website);
    // If the host was killed while it switched cores, the links and the record differ.
    await steps.repairFiles(website);
    const { lost } = (await settle(record)).placement;
    // Nothing but a restore opens it.
    if (lost !== undefined && !record.placement.awaitsRestore)
      throw new Error(`it is closed to visitors, because data is missing. ${lost.join(' ')}`);
  }

  async function settle(record: InstallRecord): Promise<InstallRecord> {
    return keepData(record, record.placement.seen ?? null);
  }

  async function settleReplaced(installId: string): Promise<void> {
    const record = await records.read(installId);
    if (record === null) return;
    await steps.repairFiles(await websiteOf(record));
    await keepData(record, null);
  }

  async function keepData(record: InstallRecord, before: SeenData | null): Promise<InstallRecord> {
    const website = await websiteOf(record);
    const install = await steps.sandboxOf(website);
    const data = await readWebsiteData(layout, parts.databases, install, website.database);
    const { losses, seen } = judgeData(data, before);
    const missing = losses.filter(({ closes }) => closes).map(({ message }) => message);
    const reasons = website.awaitsRestore ? [AWAITS_RESTORE, ...missing] : missing;
    const { lost: former, seen: known } = record.placement;
    const kept = {
      ...website,
      seen: seen ?? known,
      lost: reasons.length === 0 ? undefined : reasons,
    };
    if (isDeepStrictEqual(kept.lost, former) && isDeepStrictEqual(kept.seen, known)) return record;
    const saved = await saveRecord(kept);
    if (kept.lost !== undefined && former === undefined && !website.awaitsRestore) {
      log.error(
        { install: website.id, reasons },
        `closed the website ${website.name}, because data is missing`,
      );
    }
    if ((kept.lost === undefined) !== (former === undefined)) {
      await steps.serve(kept);
      await parts.web.purge(website.id);
    }
    return saved;
  }

  /** An upgrade of the machine may have removed the website's PHP version; another one is better than none. */
  async function phpOf({ phpVersion }: Placement, name: string): Promise<PhpRuntime> {
    return versions.php(phpVersion).catch(async (err: unknown) => {
      const newest = preferredRuntime(await findPhpRuntimes(layout));
      if (newest === undefined) throw err;
      log.warn({ err }, `${name} runs on PHP ${newest.version}, because its own version is gone`);
      return newest;
    });
  }

  async function websiteOf({ state, placement }: InstallRecord): Promise<Website> {
    return {
      id: state.id,
      name: state.name,
      state,
      database: placement.database,
      php: await phpOf(placement, state.name),
      wordpressVersion: placement.wordpressVersion,
      uid: placement.uid,
      formerNames: placement.formerNames,
      seen: placement.seen,
      lost: placement.lost,
      held: placement.held,
      awaitsRestore: placement.awaitsRestore,
    };
  }

  async function saveRecord(website: Website): Promise<InstallRecord> {
    const sandbox = await steps.sandboxOf(website);
    const { state, php, wordpressVersion, database, formerNames = [], seen, lost, held } = website;
    const { awaitsRestore } = website;
    const { uid, gid } = sandbox;
    const record = {
      state,
      placement: {
        ...{ uid, gid, phpVersion: php.version, wordpressVersion, database },
        ...(formerNames.length === 0 ? {} : { formerNames }),
        ...(seen === undefined ? {} : { seen }),
        ...(lost === undefined ? {} : { lost }),
        ...(held === undefined ? {} : { held }),
        ...(awaitsRestore === undefined ? {} : { awaitsRestore }),
      },
    };
    await records.write(record);
    live.set({ ...record, sandbox });
    return record;
  }

  /** Provisions the website. If it is interrupted, the journal makes the next start undo it. */
  async function provision(
    state: InstallState,
    signal?: AbortSignal,
    marks: Pick<Website, 'held' | 'awaitsRestore'> = {},
  ): Promise<InstallRecord> {
    const website: Website = {
      ...marks,
      id: state.id,
      name: state.name,
      database: databaseOf(state.id),
      state,
      php: await versions.php(state.phpVersion),
      wordpressVersion: await versions.wordpress(state.wordpressVersion),
    };
    await requireNothingThere(website);
    await parts.templates.ensure(website.wordpressVersion);
    await journal.begin(website);
    try {
      await saga.run(website, signal);
    } catch (error) {
      await tryToUndo(website);
      throw error;
    }
    const record = await saveRecord(website);
    await journal.end(state.id);
    return settle(record);
  }

  /** Files or a database without a record belong to a website that lost it. Provisioning over them could delete them. */
  async function requireNothingThere({ id, name, database }: WebsiteRemains): Promise<void> {
    if ((await journal.unfinished()).some((entry) => entry.id === id)) return;
    const homes = await readdir(layout.installs);
    if (!homes.includes(id) && !(await parts.databases.list()).includes(database)) return;
    throw new PermanentHostError(
      `this host has files or a database of ${name}, but no record: restore ${layout.recordOf(id)}, or move them away`,
    );
  }

  /** Changes an existing website to the wanted state. */
  async function change(
    record: InstallRecord,
    state: InstallState,
    signal?: AbortSignal,
  ): Promise<InstallRecord> {
    const present = await websiteOf(record);
    const wordpressVersion = await versions.wordpress(state.wordpressVersion ?? present.wordpressVersion);
    const isAsked = state.phpVersion !== null && state.phpVersion !== record.placement.phpVersion;
    const php = isAsked ? await versions.php(state.phpVersion) : present.php;
    const wanted: Website = {
      ...present,
      state,
      php,
      wordpressVersion,
      // Before a moved website is in service, it has a name that its database never had.
      formerNames:
        record.placement.held?.until === null && !record.placement.awaitsRestore
          ? []
          : formerNamesOf(record, state),
    };
    const hasOtherLimits = !isDeepStrictEqual(state.php ?? null, record.state.php ?? null);
    if (php.version !== present.php.version || hasOtherLimits) await changePhp(present, wanted, signal);
    if (wordpressVersion !== present.wordpressVersion) {
      const install = await steps.sandboxOf(present);
      await parts.websites.switchCore(install, present.database, present.wordpressVersion, wordpressVersion);
    }
    // Before the record is written, so that the next attempt repeats it after a failure.
    if (!isDeepStrictEqual(addressOf(state), addressOf(record.state))) await steps.repairFiles(wanted);
    const kept = await saveRecord(wanted);
    // First, because a visitor waits for a new name, and the services of an existing website run already.
    await steps.serve(wanted);
    await steps.ensureServices(wanted);
    if (wordpressVersion !== present.wordpressVersion) await resetCaches(wanted.id);
    return settle(kept);
  }

  /**
   * Changes the version or the limits of a website's PHP, and back if the website is worse off then. The record follows later, so the
   * next start of a killed host brings the former PHP back.
   */
  async function changePhp(present: Website, { php, state }: Website, signal?: AbortSignal): Promise<void> {
    const before = await observe(await steps.lookAt(present, signal));
    const tried = { ...present, php, state: { ...present.state, php: state.php ?? null } };
    const fault = await tryPhp(tried, before, signal).catch(async (error: unknown) => {
      await steps.startPhp(present);
      throw error;
    });
    if (fault === null) return;
    await steps.startPhp(present);
    await flushCaches(present.id);
    throw new PermanentHostError(
      php.version === present.php.version
        ? `${present.name} keeps its limits of PHP, because with the new ones ${fault}`
        : `${present.name} stays on PHP ${present.php.version}, because with PHP ${php.version} ${fault}`,
    );
  }

  /** The first check with a worse result on this PHP; null if all are as good. */
  async function tryPhp(website: Website, before: Observation, signal?: AbortSignal): Promise<string | null> {
    try {
      await steps.startPhp(website);
    } catch (error) {
      return `it does not start: ${messageOf(error)}`;
    }
    await flushCaches(website.id);
    parts.reached?.('php switched', website);
    return findFault(await steps.lookAt(website, signal), before);
  }

  async function switchCore(record: InstallRecord, version: string): Promise<InstallRecord> {
    const present = await websiteOf(record);
    const to = await versions.wordpress(version);
    await parts.websites.switchCore(
      await steps.sandboxOf(present),
      present.database,
      present.wordpressVersion,
      to,
      // The checkpoint has the database.
      { keepsDump: false },
    );
    const kept = await recordCore(record, to);
    await serveAgain(kept);
    return kept;
  }

  async function recordCore(record: InstallRecord, version: string): Promise<InstallRecord> {
    const website = await websiteOf(record);
    if (website.wordpressVersion === version) return record;
    const state = { ...website.state, wordpressVersion: version };
    return saveRecord({ ...website, state, wordpressVersion: version });
  }

  async function serveAgain(record: InstallRecord): Promise<void> {
    const website = await websiteOf(record);
    await steps.serve(website);
    await steps.ensureServices(website);
    await settleReplaced(website.id);
    await resetCaches(website.id);
  }

  async function flushCaches(installId: string): Promise<void> {
    await flushRedis(layout.redisSocketOf(installId));
    await parts.web.purge(installId);
  }

  async function replaceUrls(installId: string, signal?: AbortSignal): Promise<void> {
    const record = await records.read(installId);
    const from = record?.placement.formerNames ?? [];
    if (record === null || from.length === 0) return;
    const website = await websiteOf(record);
    const { primaryHostname: to, secure } = addressOf(record.state);
    // Without forced HTTPS, visitors use both schemes, so URLs keep theirs.
    const wanted = { from, to, scheme: secure ? ('https' as const) : null, signal };
    try {
      await parts.websites.replaceUrls(await steps.sandboxOf(website), website.database, wanted);
    } catch (error) {
      if (!(error instanceof UrlsNotReplacedError)) throw error;
      // Repeating it with each later change of the website would let those fail.
      await saveRecord({ ...website, formerNames: [] });
      throw new PermanentHostError(error.message, { cause: error });
    }
    await saveRecord({ ...website, formerNames: [] });
    await flushCaches(installId);
  }

  /** The caches no longer match the website's content. */
  async function resetCaches(installId: string): Promise<void> {
    await parts.daemons.restart(phpDaemon(installId));
    await flushCaches(installId);
  }

  async function setAside(installId: string): Promise<void> {
    const record = await records.read(installId);
    if (record === null) return;
    // Written before anything ends: if the host is killed here, it serves the website again with its record complete.
    await aside.write(record);
    await records.remove(installId);
    live.delete(installId);
    await parts.web.remove(installId);
    await parts.purges.close(installId);
    await parts.mailSockets.close(installId);
    await parts.ssh.endSessions(installId);
    await drainPhp(layout.phpSocketOf(installId));
    await parts.daemons.remove(phpDaemon(installId));
    await parts.daemons.remove(redisDaemon(installId));
    await parts.wpCli.end(installId);
    await parts.cgroups.kill(cgroupOf(installId));
  }

  async function hold(installId: string, until: string | null): Promise<void> {
    const record = await records.read(installId);
    if (record === null) throw new PermanentHostError('this host does not have the website');
    const held = { ...(await websiteOf(record)), held: { until } };
    // Log-ins, tasks and commands look at the record, visitors at the row.
    await saveRecord(held);
    await steps.serve(held);
    await parts.ssh.endSessions(installId);
    await parts.wpCli.end(installId);
    await parts.cgroups.kill(cgroupOf(installId));
    // Requests that came before may still write; they have some seconds to end.
    await endRequests(parts.daemons, {
      name: phpDaemon(installId),
      socket: layout.phpSocketOf(installId),
      start: () => steps.startPhp(held),
    });
  }

  async function release(installId: string): Promise<void> {
    const record = await records.read(installId);
    if (record?.placement.held === undefined) return;
    const { held: _ended, ...website } = await websiteOf(record);
    await saveRecord(website);
    await steps.serve(website);
  }

  async function handOver(installId: string): Promise<void> {
    const record = await records.read(installId);
    if (record === null) return;
    if (!isHeld(record.placement, new Date(parts.clock.now().getTime() + HAND_OVER_MS))) {
      throw new PermanentHostError(
        'the website takes changes again, so what was copied of it can be outdated',
      );
    }
    // Its hold could end while it stops. And if it moves back, its former copy must run no tasks before it is replaced.
    const kept = { ...(await websiteOf(record)), held: { until: null } };
    await saveRecord(kept);
    await steps.serve(kept);
    await setAside(installId);
  }

  /** Brings back a website that was set aside. Null without one. `marks`: for a restore of it. */
  async function takeBack(
    installId: string,
    marks: Pick<Placement, 'held' | 'awaitsRestore'> = {},
  ): Promise<InstallRecord | null> {
    const kept = await aside.read(installId);
    if (kept === null) return null;
    const record = { ...kept, placement: { ...kept.placement, ...marks } };
    await records.write(record);
    await bringUp(record);
    await aside.remove(installId);
    return record;
  }

  async function makeForRestore(state: InstallState, signal?: AbortSignal): Promise<void> {
    const { id } = state;
    const present = await records.read(id);
    if (present !== null && !present.placement.awaitsRestore) return;
    // What was set aside is older than the backup, or belongs to another time of the website.
    const record =
      present ?? (await takeBack(id, FOR_RESTORE)) ?? (await provision(unserved(state), signal, FOR_RESTORE));
    await change(record, state, signal);
  }

  async function noteFilled(installId: string): Promise<void> {
    const record = await records.read(installId);
    if (!record?.placement.awaitsRestore) return;
    // The database is another one.
    await saveRecord({ ...withoutRestore(await websiteOf(record)), formerNames: [] });
  }

  /** Without any backup, the operator wants the website as it is. */
  async function giveUpRestore(record: InstallRecord): Promise<InstallRecord> {
    return saveRecord(withoutRestore(await websiteOf(record)));
  }

  async function remove(
    { id, name }: RemovedInstall,
    { keepBackups = false }: RemovalOptions = {},
  ): Promise<void> {
    const record = (await records.read(id)) ?? (await aside.read(id));
    const remains = {
      id,
      name: record?.state.name ?? name,
      database: record?.placement.database ?? databaseOf(id),
    };
    // Written before anything is removed, so that a killed host does not bring up half a website.
    await journal.begin(remains);
    await records.remove(id);
    await aside.remove(id);
    live.delete(id);
    await parts.ssh.endSessions(id);
    await parts.wpCli.end(id);
    await backups.recover(id);
    await saga.undo(remains);
    await (keepBackups ? backups.removeUnfinished(id) : backups.removeAll(id));
    await removeDurably(layout.updateOf(id));
    await removeDurably(layout.changeOf(id));
    await journal.end(id);
  }

  return {
    undo,
    bringUp,
    settle,
    settleReplaced,
    makeFolders: async (record) => steps.makeFolders(await websiteOf(record)),
    async apply(state, signal) {
      const present = await records.read(state.id);
      if (present?.placement.awaitsRestore && !state.isMade) {
        return change(await giveUpRestore(present), state, signal);
      }
      const record = present ?? (await takeBack(state.id));
      if (record !== null) return change(record, state, signal);
      if (state.isMade) {
        await requireNothingThere({ ...state, database: databaseOf(state.id) });
        throw new MissingWebsiteError(state.name);
      }
      return provision(state, signal);
    },
    makeForRestore,
    noteFilled,
    remove,
    setAside,
    hold,
    release,
    handOver,
    resetCaches,
    switchCore,
    recordCore,
    serveAgain,
    replaceUrls,
    websiteOf,
  };
}

/** A website made for a restore takes no changes and runs nothing until then. */
const FOR_RESTORE = { held: { until: null }, awaitsRestore: true } as const;

const withoutRestore = ({ held: _held, awaitsRestore: _awaits, ...website }: Website): Website => website;

export const AWAITS_RESTORE = 'The backup of the website is not restored yet.';

/** The website under a name that no visitor asks for, while it is empty and not closed yet. */
function unserved(state: InstallState): InstallState {
  const name = `${state.id}.restoring.invalid`;
  return {
    ...state,
    primaryHostname: name,
    hostnames: [{ name, redirectTo: null, forceHttps: false, certificate: null }],
  };
}

/** The main names whose URLs the database has, if it is not only the present one with the present scheme. */
function formerNamesOf({ state: former, placement }: InstallRecord, state: InstallState): string[] {
  const [before, after] = [addressOf(former), addressOf(state)];
  const isMoved = before.primaryHostname !== after.primaryHostname;
  // URLs with HTTPS stay if it is no longer forced, because a certificate that expired can be renewed.
  const isSecured = after.secure && !before.secure;
  const names = isMoved || isSecured ? [before.primaryHostname] : [];
  return [...new Set([...(placement.formerNames ?? []), ...names])];
}

function databaseOf(installId: string): string {
  return `hp_${installId.replaceAll('-', '')}`;
}
