import { readdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type InstallRef, type InstallState, PermanentHostError } from '../../contract/host.ts';
import { emptyRedis } from '../daemons/redis.ts';
import type { JournalEntry } from '../machine/journal.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import type { InstallRecord, Placement } from '../machine/record.ts';
import { createSaga } from '../machine/saga.ts';
import { tryOrLog } from '../machine/try-or-log.ts';
import type { LinuxHostParts } from './linux-host-parts.ts';
import { createOffers } from './offers.ts';
import {
  addressOf,
  cgroupOf,
  phpDaemon,
  redisDaemon,
  type Website,
  type WebsiteRemains,
  type WebsiteSteps,
} from './provisioning.ts';

/** What becomes of a website on this host, from its making to its end. Whoever calls sees to it that each has one turn at a time. */
export interface WebsiteLifecycle {
  /** Takes away what is left of a making or a removal that was broken off, and its entry in the journal. */
  undo(entry: JournalEntry): Promise<void>;
  /** Brings up what is there of a website. Rejects if it cannot be. */
  bringUp(record: InstallRecord): Promise<void>;
  /** Makes the website, whole or not at all, or brings the one that is there to `state`. */
  apply(state: InstallState, signal?: AbortSignal): Promise<InstallRecord>;
  /** Takes it away, backups included. Removing what is not there is success. */
  remove(install: InstallRef): Promise<void>;
  /** Stops serving it, ends its processes and keeps its data, until `apply` brings it back. Success if it is not there. */
  setAside(installId: string): Promise<void>;
  /** Empties what is kept of a website that is no longer made from the same: the memory of PHP, and both caches. */
  forgetPages(installId: string): Promise<void>;
  /** The website that a record is of, on a PHP that there is. */
  websiteOf(record: InstallRecord): Promise<Website>;
}

export function createWebsiteLifecycle(parts: LinuxHostParts, steps: WebsiteSteps): WebsiteLifecycle {
  const { layout, records, aside, journal, live, backups, log } = parts;
  const offers = createOffers(layout, parts.cores);
  const saga = createSaga(steps.stages, {
    reached: parts.reached,
    onUndoFailure: (err, step, { id }) =>
      log.error({ err, step, install: id }, 'a part of a website could not be taken away'),
  });

  /** What was written down before it was begun stays so until it is taken away. */
  async function tryToUndo(entry: JournalEntry): Promise<void> {
    await tryOrLog(log, `what was made of the website ${entry.name} could not be taken away`, () =>
      undo(entry),
    );
  }

  async function undo(entry: JournalEntry): Promise<void> {
    if ((await records.read(entry.id)) === null) {
      log.info({ install: entry.id }, 'a website whose making was broken off is taken away');
      await saga.undo(entry);
    }
    await journal.end(entry.id);
  }

  async function bringUp(record: InstallRecord): Promise<void> {
    await backups.recover(record.state.id);
    const website = await websiteOf(record);
    live.set({ ...record, sandbox: await steps.sandboxOf(website) });
    await steps.uphold(website);
    // A host that was killed while it switched a core left links to the one and a record of the other.
    await steps.makeFiles(website);
  }

  /** An upgrade of the machine may have taken its PHP away: the newest serves it better than none. */
  async function phpOf({ phpVersion }: Placement, name: string): Promise<PhpRuntime> {
    return offers.php(phpVersion).catch(async (err: unknown) => {
      const newest = await offers.php(null);
      log.warn({ err }, `${name} runs on PHP ${newest.version}, as its own is gone`);
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
    };
  }

  async function keep(website: Website): Promise<InstallRecord> {
    const sandbox = await steps.sandboxOf(website);
    const { state, php, wordpressVersion, database } = website;
    const { uid, gid } = sandbox;
    const record = {
      state,
      placement: { uid, gid, phpVersion: php.version, wordpressVersion, database },
    };
    await records.write(record);
    live.set({ ...record, sandbox });
    return record;
  }

  /** Makes the website, whole or not at all, however it ends. */
  async function provision(state: InstallState, signal?: AbortSignal): Promise<InstallRecord> {
    const website: Website = {
      id: state.id,
      name: state.name,
      database: databaseOf(state.id),
      state,
      php: await offers.php(state.phpVersion),
      wordpressVersion: await offers.wordpress(state.wordpressVersion),
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
    const record = await keep(website);
    await journal.end(state.id);
    return record;
  }

  /** Without a record, what is there is some website's whose record was lost: to fail over it would be to delete it. */
  async function requireNothingThere({ id, name, database }: WebsiteRemains): Promise<void> {
    if ((await journal.unfinished()).some((entry) => entry.id === id)) return;
    const homes = await readdir(layout.installs);
    if (!homes.includes(id) && !(await parts.databases.list()).includes(database)) return;
    throw new PermanentHostError(
      `files or a database of ${name} are on this host, and no record of it: put ${layout.recordOf(id)} back, or take them away`,
    );
  }

  /** Brings a website that is there to what it should be. */
  async function change(record: InstallRecord, state: InstallState): Promise<InstallRecord> {
    const present = await websiteOf(record);
    const wordpressVersion = await offers.wordpress(state.wordpressVersion ?? present.wordpressVersion);
    const isAsked = state.phpVersion !== null && state.phpVersion !== record.placement.phpVersion;
    const php = isAsked ? await offers.php(state.phpVersion) : present.php;
    const wanted: Website = { ...present, state, php, wordpressVersion };
    if (wordpressVersion !== present.wordpressVersion) {
      const install = await steps.sandboxOf(present);
      await parts.websites.switchCore(install, present.database, present.wordpressVersion, wordpressVersion);
    }
    // Before it is written down, so that what fails is done again with the next try.
    if (!isDeepStrictEqual(addressOf(state), addressOf(record.state))) await steps.makeFiles(wanted);
    const kept = await keep(wanted);
    await steps.uphold(wanted);
    await steps.show(wanted);
    if (wordpressVersion !== present.wordpressVersion) await forgetPages(wanted.id);
    return kept;
  }

  /** What is in the install's caches no longer fits what it is made from. */
  async function forgetPages(installId: string): Promise<void> {
    await parts.daemons.restart(phpDaemon(installId));
    await emptyRedis(layout.redisSocketOf(installId));
    await parts.web.purge(installId);
  }

  async function setAside(installId: string): Promise<void> {
    const record = await records.read(installId);
    if (record === null) return;
    // Written before anything ends: a host that is killed on the way serves the website again, and knows all of it.
    await aside.write(record);
    await records.remove(installId);
    live.delete(installId);
    await parts.web.remove(installId);
    await parts.ssh.endSessions(installId);
    await parts.daemons.remove(phpDaemon(installId));
    await parts.daemons.remove(redisDaemon(installId));
    await parts.cgroups.kill(cgroupOf(installId));
  }

  /** Brings back a website that was put aside. Null if there is none. */
  async function takeBack(installId: string): Promise<InstallRecord | null> {
    const record = await aside.read(installId);
    if (record === null) return null;
    await records.write(record);
    await bringUp(record);
    await aside.remove(installId);
    return record;
  }

  async function remove({ id, name }: InstallRef): Promise<void> {
    const record = (await records.read(id)) ?? (await aside.read(id));
    const remains = {
      id,
      name: record?.state.name ?? name,
      database: record?.placement.database ?? databaseOf(id),
    };
    // Written before anything goes, so that a host killed on the way does not bring half a website up again.
    await journal.begin(remains);
    await records.remove(id);
    await aside.remove(id);
    live.delete(id);
    await parts.ssh.endSessions(id);
    await backups.recover(id);
    await saga.undo(remains);
    await backups.removeAll(id);
    await journal.end(id);
  }

  return {
    undo,
    bringUp,
    async apply(state, signal) {
      const record = (await records.read(state.id)) ?? (await takeBack(state.id));
      return record === null ? provision(state, signal) : change(record, state);
    },
    remove,
    setAside,
    forgetPages,
    websiteOf,
  };
}

function databaseOf(installId: string): string {
  return `hp_${installId.replaceAll('-', '')}`;
}
