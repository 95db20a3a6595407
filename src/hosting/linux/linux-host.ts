import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Randomness } from '../../ids.ts';
import type { ListenAddress } from '../../setting-values.ts';
import { type HostDescription, type HostMachine, type InstallState, PermanentHostError } from '../host.ts';
import { createSerial } from '../serial.ts';
import type { Backups } from './backups/backups.ts';
import { capacityOfMachine } from './capacity.ts';
import type { Cron } from './cron.ts';
import type { DatabaseServer } from './daemons/mariadb.ts';
import { emptyRedis } from './daemons/redis.ts';
import { inspectMachine } from './drift/inspect.ts';
import type { HostedInstall } from './hosted-install.ts';
import { hostId } from './identity.ts';
import { inBatches } from './in-batches.ts';
import type { Firewall } from './isolation/firewall.ts';
import { systemLogins } from './isolation/unix-users.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { LiveInstalls } from './live-installs.ts';
import { createOffers } from './offers.ts';
import { findPhpRuntimes, type PhpRuntime } from './php/runtimes.ts';
import { addressOf, phpDaemon, type Website, type WebsiteRemains, websiteSteps } from './provisioning.ts';
import type { InstallRecord, Placement, Records } from './record.ts';
import { createSaga } from './saga.ts';
import type { SshServer } from './ssh/ssh-server.ts';
import { createStandingFirewall } from './standing-firewall.ts';
import type { WebsiteParts } from './website-parts.ts';
import type { WordPressCores } from './wordpress/cores.ts';
import type { Golden } from './wordpress/golden.ts';
import { requireWordPress } from './wordpress-answers.ts';

/** Everything that the Linux host is made of; src/linux-host.ts puts it together. */
export interface LinuxHostParts extends WebsiteParts {
  /** The id that a control plane on another machine has given to this host; null: it gives itself one. */
  givenId: string | null;
  /** How many installs it has room for; null: what its memory and disk allow. */
  capacity: number | null;
  edgeHttp: ListenAddress;
  databaseServer: DatabaseServer;
  cores: WordPressCores;
  golden: Golden;
  firewall: Firewall;
  backups: Backups;
  ssh: SshServer;
  cron: Cron;
  records: Records;
  journal: Journal;
  /** The records of the installs that are whole, for what asks often. */
  live: LiveInstalls;
  log: Logger;
  random: Randomness;
  /** Whether an install of this name is a copy that is there for a moment, made to try something with it. */
  isTrial(installName: string): boolean;
  /** Called after each step of the making of a website: where a test breaks off. */
  reached?: ((step: string, website: WebsiteRemains) => void) | undefined;
}

/** Websites that are brought up side by side when the host starts. */
const SIDE_BY_SIDE = 8;

/** Websites of real WordPress on this machine: nginx, PHP-FPM, MariaDB, Redis, restic, OpenSSH. Needs root. */
export function createLinuxHost(parts: LinuxHostParts): HostMachine {
  const { layout, records, journal, live, backups, web, daemons, websites, cores, log } = parts;
  const serially = createSerial();
  const steps = websiteSteps(parts, askedAt);
  const saga = createSaga(steps.stages, {
    reached: parts.reached,
    onUndoFailure: (err, step, { id }) =>
      log.error({ err, step, install: id }, 'a part of a website could not be taken away'),
  });
  const offers = createOffers(layout, cores);
  const firewall = createStandingFirewall(parts.firewall, { log });
  let identity: string | null = null;

  /** Where the web server of this machine is asked by HTTP. */
  function askedAt(): ListenAddress {
    const { host } = parts.edgeHttp;
    const everywhere = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    return { host: everywhere, port: web.ports().http };
  }

  async function start(): Promise<void> {
    identity = await hostId(layout.identity, { given: parts.givenId, random: parts.random });
    await daemons.start();
    await firewall.start();
    await orSay('the scratch folder could not be emptied', () => emptyFolder(layout.scratch));
    const whole = await records.all();
    // Before PHP and databases, so that names, redirects, files and cached pages are there as soon as can be.
    await web.start(whole.map(({ state, placement }) => ({ state, ...placement })));
    await orSay('the database server does not run', () => parts.databaseServer.ensure());
    await undoUnfinished();
    await inBatches(whole, SIDE_BY_SIDE, tryToBringUp);
    await cores.ensureAny();
    for (const version of (await cores.list()).slice(0, 1)) {
      await orSay(`WordPress ${version} cannot be installed, so new websites are refused`, async () => {
        await parts.golden.ensure(version);
        await compile(version);
      });
    }
    await orSay('nobody can sign in by SSH', () => parts.ssh.start());
    parts.cron.start();
  }

  /** What fails here keeps the websites from being served as little as it can; "homeport doctor --host" names it. */
  async function orSay(what: string, work: () => Promise<void>): Promise<void> {
    await work().catch((err: unknown) => log.error({ err }, what));
  }

  /** New websites get the newest version: one that cannot be installed must not be it. */
  async function proveInstallable(version: string): Promise<void> {
    try {
      await parts.golden.ensure(version);
    } catch (cause) {
      const isUsed = (await records.all()).some(({ placement }) => placement.wordpressVersion === version);
      if (!isUsed) await cores.remove(version);
      const fate = isUsed ? 'stays for the websites that have it' : 'was taken away again';
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new PermanentHostError(`WordPress ${version} cannot be installed, and ${fate}: ${why}`, {
        cause,
      });
    }
  }

  /** For each PHP of this machine. Websites run without it, only their first page takes longer. */
  async function compile(wordpressVersion: string): Promise<void> {
    for (const php of await findPhpRuntimes(layout)) {
      await parts.compiledCores.ensure(php, wordpressVersion).catch((err: unknown) => {
        log.warn({ err }, `WordPress ${wordpressVersion} could not be compiled for PHP ${php.version}`);
      });
    }
  }

  /** What a killed host had begun to make and not ended: whole if its record was written, else undone. */
  async function undoUnfinished(): Promise<void> {
    for (const entry of await journal.unfinished()) {
      await orSay(`what was made of the website ${entry.name} could not be taken away`, () => undo(entry));
    }
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

  /** One website that cannot be brought up keeps none of the others from being. */
  async function tryToBringUp(record: InstallRecord): Promise<void> {
    const { id, name } = record.state;
    await bringUp(record).catch((err: unknown) =>
      log.error(
        { err, install: id },
        `the website ${name} could not be brought up; "homeport doctor --host" looks again`,
      ),
    );
  }

  async function stop(): Promise<void> {
    firewall.stop();
    // The daemons end last, and whatever else failed to.
    const ended = await Promise.allSettled([parts.cron.stop(), parts.ssh.stop(), web.stop()]);
    for (const { reason } of ended.filter((end) => end.status === 'rejected')) {
      log.error({ err: reason }, 'a part of the host did not end well');
    }
    await daemons.stop();
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

  async function hosted(record: InstallRecord): Promise<HostedInstall> {
    const { id, name, primaryHostname } = record.state;
    return {
      ref: { id, name },
      sandbox: await steps.sandboxOf(await websiteOf(record)),
      database: record.placement.database,
      unixUser: name,
      primaryHostname,
    };
  }

  async function requireRecord({ id, name }: { id: string; name: string }): Promise<InstallRecord> {
    const record = await records.read(id);
    if (record !== null) return record;
    throw new PermanentHostError(`there is no website ${name} on this host`);
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
    await parts.golden.ensure(website.wordpressVersion);
    await journal.begin(website);
    try {
      await saga.run(website, signal);
    } catch (error) {
      // Twice is nothing: what could not be undone at once stays written down.
      await orSay(`what was made of the website ${website.name} could not be taken away`, () =>
        undo(website),
      );
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
      await websites.switchCore(install, present.database, present.wordpressVersion, wordpressVersion);
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
    await daemons.restart(phpDaemon(installId));
    await emptyRedis(layout.redisSocketOf(installId));
    await web.purge(installId);
  }

  async function remove({ id, name }: { id: string; name: string }): Promise<void> {
    const record = await records.read(id);
    const remains = {
      id,
      name: record?.state.name ?? name,
      database: record?.placement.database ?? databaseOf(id),
    };
    // Written before anything goes, so that a host killed on the way does not bring half a website up again.
    await journal.begin(remains);
    await records.remove(id);
    live.delete(id);
    await parts.ssh.endSessions(id);
    await backups.recover(id);
    await saga.undo(remains);
    await backups.removeAll(id);
    await journal.end(id);
  }

  return {
    start,
    stop,

    async apply(state, signal) {
      return serially(state.id, async () => {
        signal?.throwIfAborted();
        const record = await records.read(state.id);
        const { placement } = record === null ? await provision(state, signal) : await change(record, state);
        const { phpVersion, wordpressVersion } = placement;
        return { phpVersion, wordpressVersion, stableIps: null };
      });
    },

    remove: (install) => serially(install.id, () => remove(install)),

    async purge(install, cache) {
      await requireRecord(install);
      if (cache === 'page') await web.purge(install.id);
      if (cache === 'object') await emptyRedis(layout.redisSocketOf(install.id));
      // What a CDN keeps is not on this machine: the control plane asks it.
    },

    snapshot: (install, backupId, signal) =>
      serially(install.id, async () =>
        backups.snapshot(await hosted(await requireRecord(install)), backupId, signal),
      ),

    restore: (install, backupId, { from = install, signal } = {}) =>
      serially(install.id, async () => {
        const record = await requireRecord(install);
        const snapshot = await backups.restore(await hosted(record), backupId, { from, signal });
        await forgetPages(install.id);
        // A copy that does not answer is none. What an install was itself, broken as it may have been, it becomes again.
        if (from.id !== install.id) {
          await requireWordPress(record.state.primaryHostname, askedAt(), signal);
        }
        return snapshot;
      }),

    discardSnapshot: (install, backupId) => serially(install.id, () => backups.discard(install, backupId)),

    publish: (proof) => web.publish(proof),
    withdraw: (proof) => web.withdraw(proof),

    async describe(): Promise<HostDescription> {
      if (identity === null) throw new Error('the host has not been started');
      const php = await findPhpRuntimes(layout);
      return {
        id: identity,
        capacity: parts.capacity ?? (await capacityOfMachine(layout.folder)),
        phpVersions: php.map(({ version }) => version),
        wordpressVersions: await cores.list(),
        reservedNames: (await systemLogins()).filter((name) => AS_INSTALL.test(name)),
        ports: { ...web.ports(), ssh: parts.ssh.port() },
      };
    },

    inspect: (expected, repair) =>
      inspectMachine({ ...parts, steps, websiteOf, bringUp, undo, serially }, expected, repair),

    async addWordpress(source) {
      const version = await cores.add(source);
      await proveInstallable(version);
      await compile(version);
      return version;
    },
  };
}

/** Log-ins that an install could be named like: others take no name from any. */
const AS_INSTALL = /^[a-z][a-z0-9-]{1,38}[a-z0-9]$/;

function databaseOf(installId: string): string {
  return `hp_${installId.replaceAll('-', '')}`;
}

/** Whatever a killed host was making or deleting. */
async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}
