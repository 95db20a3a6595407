import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { timestamp } from '../../lib/clock.ts';
import { mapConcurrent, serializeByKey, tryWithin } from '../../lib/concurrency.ts';
import { connectableHost } from '../../lib/connectable-host.ts';
import { INSTALL_NAME } from '../../lib/host-names.ts';
import type { LogKind } from '../contract/choices.ts';
import { PermanentHostError } from '../contract/errors.ts';
import type { HostDescription, HostMachine } from '../contract/host.ts';
import type { InstallUsage } from '../contract/install-limits.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import { pageOf } from '../contract/inventory.ts';
import { linuxFiles, linuxRuntime } from '../runtime/linux/linux-runtime.ts';
import { createWebsiteChanges } from '../websites/changes/website-changes.ts';
import { readMailRefusals } from '../websites/logs/mail-refusals.ts';
import { movedFault, seenWebsite } from '../websites/probe/moved-website.ts';
import { readWebsite } from '../websites/reading/read-website.ts';
import { wordpressMark } from '../websites/reading/wordpress-mark.ts';
import type { AskedEdge } from '../wordpress/wordpress-answers.ts';
import { measureWebsite } from './backups/measure-website.ts';
import { createHangWatch } from './daemons/hang-watch.ts';
import { flushRedis } from './daemons/redis.ts';
import { inspectMachine } from './drift/inspect.ts';
import { createLinuxInventory } from './inventory.ts';
import { createFirewallMonitor } from './isolation/firewall-monitor.ts';
import type { HostedInstall } from './isolation/hosted-install.ts';
import { createMeasuredQuotas } from './isolation/measured-quotas.ts';
import { quotaKind } from './isolation/project-quotas.ts';
import type { SandboxedInstall } from './isolation/sandbox.ts';
import { systemLogins } from './isolation/unix-users.ts';
import { findSandboxed } from './isolation/write-limit.ts';
import { capacityOfMachine } from './machine/capacity.ts';
import { isHeld } from './machine/held.ts';
import { hostId } from './machine/identity.ts';
import type { JournalEntry } from './machine/journal.ts';
import { stateOfMachine } from './machine/machine-state.ts';
import { findPhpRuntimes, isComplete } from './machine/php-runtimes.ts';
import type { InstallRecord } from './machine/record.ts';
import { tryOrLog } from './machine/try-or-log.ts';
import { createPhpFigures } from './php/php-figures.ts';
import { changeableWebsite } from './websites/changeable-website.ts';
import type { LinuxHostParts } from './websites/linux-host-parts.ts';
import { measureStorage } from './websites/measure-storage.ts';
import { addressOf, cgroupOf, phpDaemon, websiteSteps } from './websites/provisioning.ts';
import { createStartRetries } from './websites/start-retries.ts';
import { AWAITS_RESTORE, createWebsiteLifecycle } from './websites/website-lifecycle.ts';
import { createWebsiteReplacements } from './websites/website-replacements.ts';
import { createWordPressVersions } from './websites/wordpress-versions.ts';

/** How many websites are brought up concurrently at the start of the host. */
const SIDE_BY_SIDE = 8;
/** A website that is locked by other work for longer keeps its quota as it is. */
const LOCK_WITHIN_MS = 1_000;
const NOTHING: InstallUsage = { bytes: 0, files: 0 };
/** Shortest time between two readings of nginx's log for readers of logs. */
const COLLECT_PAUSE_MS = 1_500;

/** Hosts real WordPress websites on this machine: nginx, PHP-FPM, MariaDB, Redis, restic, OpenSSH. Needs root. */
export function createLinuxHost(parts: LinuxHostParts): HostMachine {
  const { layout, records, backups, web, daemons, cores, log } = parts;
  const serially = serializeByKey();
  /** A command of WP-CLI would run in a website that changes beneath it. */
  const replacing = <Result>(id: string, work: () => Promise<Result>) =>
    serially(id, () => parts.wpCli.whileRefused(id, () => mayClose(id, work)));
  const steps = websiteSteps(parts, askedAt);
  const lifecycle = createWebsiteLifecycle(parts, steps);
  const startRetries = createStartRetries({ log, clock: parts.clock });
  const wordpressVersions = createWordPressVersions(parts, startRetries);
  const inventory = createLinuxInventory({
    ...parts,
    serially,
    async setAside(id) {
      startRetries.forget(id);
      await lifecycle.setAside(id);
    },
  });
  const measuredQuotas = createMeasuredQuotas({
    ...{ limits: layout.limits, findSandboxed, clock: parts.clock, log },
    installs: () => parts.live.ids().flatMap((id) => parts.live.get(id)?.sandbox ?? []),
    measure: ({ id }) => {
      const install = parts.live.get(id)?.sandbox;
      return install === undefined ? Promise.resolve(NOTHING) : measureWebsite(layout, install, undefined);
    },
    whileIdle: async (id, work) =>
      void (await tryWithin(LOCK_WITHIN_MS, (locked) => serially(id, locked), work)),
  });
  const firewall = createFirewallMonitor(parts.firewall, { log });
  const databaseWatch = createHangWatch({
    ...{ name: 'mariadb', daemons, clock: parts.clock, log },
    answers: () => parts.databaseServer.answers(),
  });
  const phpFigures = createPhpFigures({ daemons, sockets: layout.phpRun, clock: parts.clock });
  let identity: string | null = null;
  let requestsCollectedAt = Number.NEGATIVE_INFINITY;

  /** Where this machine's web server answers requests of the host itself. */
  function askedAt(): AskedEdge {
    const { http, https } = web.ports();
    return {
      http: { host: connectableHost(parts.edgeHttp.host), port: http },
      https: { host: connectableHost(parts.edgeHttps.host), port: https },
    };
  }

  async function start(): Promise<void> {
    identity = await hostId(layout.identity, { given: parts.givenId, random: parts.random });
    await daemons.start();
    parts.usage.start();
    await parts.mail.start();
    await firewall.start();
    await tryOrLog(log, 'could not end commands of WP-CLI', () => parts.wpCli.endLeftovers());
    await tryOrLog(log, 'could not empty the scratch folder', () => emptyFolder(layout.scratch));
    const whole = await records.all();
    // Before PHP and databases, so that host names, redirects, files and cached pages work early.
    await web.start(whole.map(({ state, placement }) => ({ state, ...placement })));
    await tryOrLog(
      log,
      'could not compare the place of the backups with the settings',
      async () => void (await backups.places()),
    );
    await startRetries.begin('mariadb', 'the database server', () => parts.databaseServer.ensure());
    for (const entry of await parts.journal.unfinished()) await undoWhenPossible(entry);
    await mapConcurrent(whole, SIDE_BY_SIDE, bringUp);
    await wordpressVersions.prepare();
    await startRetries.begin('sshd', 'SSH and SFTP', () => parts.ssh.start());
    parts.cron.start();
    parts.logs.start();
    await tryOrLog(log, 'could not write the files of WP-CLI', () => parts.wpCliPhar.start());
    parts.databaseQuotas.start();
    parts.databaseShares.start();
    await tryOrLog(log, 'could not try the walls between websites', () => parts.walls.measure());
    if ((await parts.quotas.state()) !== 'enforced') measuredQuotas.start();
    databaseWatch.start();
  }

  /** A website that fails or takes long does not delay the others. */
  function bringUp({ state: { id, name } }: InstallRecord): Promise<void> {
    return startRetries.begin(id, `the website ${name}`, () =>
      serially(id, async () => {
        const record = await records.read(id);
        if (record !== null) await lifecycle.bringUp(record);
      }),
    );
  }

  /** Runs work that can find that a website lost data, and so close it. The host opens it again when the data is back. */
  async function mayClose<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      const record = await records.read(id).catch(() => null);
      if (record?.placement.lost !== undefined && !startRetries.waiting().has(id)) void bringUp(record);
    }
  }

  /** Removes a website whose provisioning or removal was interrupted when the host was killed. */
  function undoWhenPossible({ id, name }: JournalEntry): Promise<void> {
    return startRetries.begin(`undo ${id}`, `the removal of the unfinished website ${name}`, () =>
      serially(id, async () => {
        const entry = (await parts.journal.unfinished()).find((other) => other.id === id);
        if (entry !== undefined) await lifecycle.undo(entry);
      }),
    );
  }

  async function stop(): Promise<void> {
    firewall.stop();
    startRetries.stop();
    databaseWatch.stop();
    // The daemons stop last, even if another part fails to stop.
    const ended = await Promise.allSettled([
      parts.cron.stop(),
      parts.logs.stop(),
      parts.wpCliPhar.stop(),
      parts.databaseQuotas.stop(),
      parts.databaseShares.stop(),
      measuredQuotas.stop(),
      parts.purges.stop(),
      parts.mailSockets.stop(),
      parts.ssh.stop(),
      web.stop(),
    ]);
    for (const { reason } of ended.filter((end) => end.status === 'rejected')) {
      log.error({ err: reason }, 'a part of the host failed to stop');
    }
    await parts.mail.stop();
    await parts.usage.stop();
    await daemons.stop();
  }

  /** Followers of logs ask often. */
  async function freshenLog(installId: string, kind: LogKind): Promise<void> {
    if (kind === 'php') return parts.logs.collectErrors(installId);
    if (kind !== 'access' || performance.now() < requestsCollectedAt + COLLECT_PAUSE_MS) return;
    requestsCollectedAt = performance.now();
    // Its own repetition logs failures, such as of a usage ledger that cannot be opened.
    await web.collectUsage().catch(() => {});
  }

  async function hosted(record: InstallRecord): Promise<HostedInstall> {
    const { id, name } = record.state;
    return {
      ref: { id, name },
      sandbox: await steps.sandboxOf(await lifecycle.websiteOf(record)),
      database: record.placement.database,
      unixUser: name,
      ...addressOf(record.state),
    };
  }

  const runtimeOf = (sandbox: SandboxedInstall) =>
    linuxRuntime(layout, sandbox, parts.cgroups.enter(cgroupOf(sandbox.id)));

  async function requireRecord({ id, name }: InstallRef): Promise<InstallRecord> {
    const record = await records.read(id);
    if (record !== null) return record;
    throw new PermanentHostError(`this host has no website ${name}`);
  }

  /** All installs, also those that are set aside. */
  async function installsHere(): Promise<InstallRef[]> {
    const all = [...(await records.all()), ...(await parts.aside.all())];
    return all.map(({ state: { id, name } }) => ({ id, name }));
  }

  const lookAt = async (install: InstallRef, signal?: AbortSignal) =>
    steps.lookAt(await lifecycle.websiteOf(await requireRecord(install)), signal);

  const changes = createWebsiteChanges({
    websiteOf: (install) => changeableWebsite(parts, { steps, lifecycle, hosted, requireRecord }, install),
    changeOf: layout.changeOf,
    updateOf: layout.updateOf,
    limits: layout.limits,
    clock: parts.clock,
    log,
  });
  const replacements = createWebsiteReplacements(parts, { steps, lifecycle, hosted, requireRecord, askedAt });
  /** Also the record of a website that is set aside: its last snapshot is made before it is removed. A killed host can have left both. */
  async function requireKept(install: InstallRef): Promise<InstallRecord> {
    return (await records.read(install.id)) ?? (await parts.aside.read(install.id)) ?? requireRecord(install);
  }
  /** As {@link requireKept}. A backup of a website that awaits its restore would be an empty one, and the newest. */
  async function requireFilled(install: InstallRef): Promise<InstallRecord> {
    const record = await requireKept(install);
    if (!record.placement.awaitsRestore) return record;
    throw new PermanentHostError(`the backup of the website ${install.name} is not restored yet`);
  }
  /** As {@link requireFilled}. A recovery point of what a loss left would be the newest snapshot, which a rebuild restores. */
  async function requireWhole(install: InstallRef): Promise<InstallRecord> {
    const record = await requireFilled(install);
    if (record.placement.lost === undefined) return record;
    throw new PermanentHostError(`the website ${install.name} has lost data, and is closed`);
  }

  return {
    start,
    stop,

    async apply(state, signal) {
      return serially(state.id, async () => {
        signal?.throwIfAborted();
        const { placement } = await mayClose(state.id, () => lifecycle.apply(state, signal));
        const { phpVersion, wordpressVersion, formerNames } = placement;
        return { phpVersion, wordpressVersion, stableIps: null, hasFormerUrls: formerNames !== undefined };
      });
    },

    makeForRestore: (state, signal) =>
      serially(state.id, async () => {
        signal?.throwIfAborted();
        await lifecycle.makeForRestore(state, signal);
      }),

    remove: (install, options) =>
      serially(install.id, async () => {
        startRetries.forget(install.id);
        await lifecycle.remove(install, options);
      }),

    retire: ({ id }) =>
      serially(id, async () => {
        startRetries.forget(id);
        await lifecycle.setAside(id);
      }),

    removeBackups: ({ id, name }) =>
      serially(id, async () => {
        if ((await records.read(id)) !== null) throw new PermanentHostError(`the website ${name} exists`);
        await backups.removeAll(id);
      }),

    async purge(install, cache) {
      await requireRecord(install);
      if (cache === 'page') await web.purge(install.id);
      if (cache === 'object') await flushRedis(layout.redisSocketOf(install.id));
      // The control plane itself purges a CDN's cache.
    },

    async purgePages(install, paths) {
      await requireRecord(install);
      await web.purgePages(install.id, paths);
    },

    restartPhp: (install) =>
      serially(install.id, async () => {
        await requireRecord(install);
        await parts.daemons.restart(phpDaemon(install.id));
      }),

    replaceUrls: (install, signal) => serially(install.id, () => lifecycle.replaceUrls(install.id, signal)),

    snapshot: (install, backupId, signal, report) =>
      serially(install.id, async () =>
        backups.snapshot(await hosted(await requireFilled(install)), backupId, signal, report),
      ),

    recordPoint: (install, order, signal, report) =>
      serially(install.id, async () =>
        backups.recordPoint(await hosted(await requireWhole(install)), order, signal, report),
      ),

    // Beside other work: it only reads.
    async unchangedWebsites(marked) {
      const known = await mapConcurrent([...marked], SIDE_BY_SIDE, async ({ installId, mark }) => {
        const record = await records.read(installId);
        return record === null ? [] : [{ installId, mark, unixUser: record.state.name }];
      });
      return backups.unchanged(known.flat());
    },

    restore: (install, ...order) => replacing(install.id, () => replacements.restore(install, ...order)),

    importWebsite: (install, ...order) =>
      replacing(install.id, () => replacements.importWebsite(install, ...order)),

    lastImport: (install) => serially(install.id, () => replacements.lastImport(install)),

    snapshotBase: (install, backupId, signal, report) =>
      serially(install.id, async () =>
        backups.copies.snapshotBase(await hosted(await requireRecord(install)), backupId, signal, report),
      ),
    snapshotChanges: (install, backupId, baseId, signal, report) =>
      serially(install.id, async () =>
        backups.copies.snapshotChanges(
          await hosted(await requireRecord(install)),
          backupId,
          baseId,
          signal,
          report,
        ),
      ),
    stageSnapshot: (install, ...order) =>
      serially(install.id, () => replacements.stageSnapshot(install, ...order)),
    restoreChanges: (install, ...order) =>
      replacing(install.id, () => replacements.restoreChanges(install, ...order)),

    discardSnapshot: (install, backupId) => serially(install.id, () => backups.discard(install, backupId)),

    // Beside other work: it only reads.
    heldBackups: (install) => backups.held(install),
    backupPlaces: () => backups.places(),
    moveBackups: (move, signal, report) => backups.move({ ...move, installsHere }, signal, report),
    acceptBackupPlace: () => backups.acceptPlace(),
    forgetFormerBackups: (listed, signal) => backups.forgetFormer(listed, signal),
    pack: (install, ids, signal) => backups.pack(install, ids, signal),
    browseBackup: backups.browseBackup,
    listBackupTables: backups.listBackupTables,
    readBackupFile: backups.readBackupFile,
    readPacked: ({ id }, archiveId, part) => backups.readPacked(id, archiveId, part),
    discardPacked: ({ id }, archiveId) => backups.discardPacked(id, archiveId),
    // Beside other work on the website, which a backup can occupy for hours.
    async measureStorage(install, signal) {
      return measureStorage(parts, await hosted(await requireRecord(install)), signal);
    },

    // Beside other work, too: links must not wait for a backup.
    async createLogin(install, user) {
      const { sandbox, database } = await hosted(await requireRecord(install));
      return parts.websites.createLogin(sandbox, database, user);
    },

    // Beside other work, too.
    async createDatabaseLink(install) {
      const { sandbox, database } = await hosted(await requireRecord(install));
      return parts.createDatabaseLink(sandbox, database, runtimeOf(sandbox));
    },

    async readMail(install) {
      const { id, name } = (await requireRecord(install)).state;
      const { sender, perHour } = parts.submitterOf({ id, name });
      return {
        hasRelay: parts.mail.hasRelay,
        limitPerHour: perHour,
        sentLastHour: parts.mail.sentLastHour(id),
        queued: parts.mail.waiting(id).messages,
        sender,
        refusals: await readMailRefusals(parts.logs, id, parts.clock.now()),
      };
    },

    mailQueue: async (selection) => parts.mail.report(selection),
    retryMail: async (selection) => parts.mail.retry(selection),
    deleteMail: (selection) => parts.mail.delete(selection),
    async readWordPress(install, { check }, signal) {
      const { sandbox } = await hosted(await requireRecord(install));
      const website = { id: install.id, runtime: runtimeOf(sandbox), version: sandbox.wordpressVersion };
      return readWebsite(website, { check, log, signal });
    },

    async wordpressMarks(after) {
      const installs = await Promise.all(
        pageOf(await records.ids(), after).map(async (installId) => {
          const record = await records.read(installId).catch(() => null);
          if (record === null) return [];
          const { wordpressVersion } = record.placement;
          const files = linuxFiles(layout, { id: installId });
          return [{ installId, mark: await wordpressMark(files, wordpressVersion) }];
        }),
      );
      return installs.flat();
    },
    // Beside other work: it only reads.
    planUpdates: changes.planUpdates,
    updateWordpress: (install, order, signal, report) =>
      serially(install.id, () =>
        mayClose(install.id, () => changes.updateWordpress(install, order, signal, report)),
      ),
    changeItem: (install, order, signal, report) =>
      serially(install.id, () =>
        mayClose(install.id, () => changes.changeItem(install, order, signal, report)),
      ),

    // Beside other work, too.
    async readLog(install, query, signal) {
      await requireRecord(install);
      // Else what was logged since the last reading would be missing at the end.
      if (query.cursor === null || query.direction === 'newer') await freshenLog(install.id, query.kind);
      return parts.logs.read(install.id, query, signal);
    },

    // Beside other work, too, as commands in a shell run.
    async runWpCli(install, args, signal) {
      const record = await requireRecord(install);
      const { placement } = record;
      if (placement.awaitsRestore) return { refused: 'website', reason: AWAITS_RESTORE };
      if (isHeld(placement, parts.clock.now())) return { refused: 'website', reason: HELD };
      const { sandbox } = await hosted(record);
      return parts.wpCli.run(sandbox, args, signal);
    },

    async readUsage(since) {
      await web.collectUsage();
      return parts.usage.read(since);
    },

    publish: (proof) => web.publish(proof),
    withdraw: (proof) => web.withdraw(proof),

    async readFigures() {
      return { edge: web.figures(), php: await phpFigures(), lateCron: parts.cron.late() };
    },

    async describe(): Promise<HostDescription> {
      if (identity === null) throw new Error('the host is not started');
      const php = await findPhpRuntimes(layout);
      const forwarding = await web.forwarding();
      return {
        id: identity,
        capacity: parts.capacity ?? (await capacityOfMachine(layout.folder)),
        phpVersions: php.filter(isComplete).map(({ version }) => version),
        wordpressVersions: await cores.list(),
        reservedNames: (await systemLogins()).filter((name) => AS_INSTALL.test(name)),
        ports: { ...web.ports(), ssh: parts.ssh.port() },
        platform: await inventory.platform(),
        sshHostKeys: parts.ssh.hostKeys(),
        ...(php.length === 0 ? {} : { php: parts.phpBounds }),
        hasRelay: parts.mail.hasRelay,
        keepsLost: true,
        makesForRestore: true,
        recordsRestores: true,
        movesWebsites: true,
        sharesSshHostKey: true,
        ...(forwarding === null ? {} : { sshRelay: { host: parts.ssh.listensAt() } }),
        machine: await stateOfMachine(layout.folder),
        hasWpCli: await parts.wpCliPhar.isThere(),
        diskQuotas: await quotaKind(parts.quotas, layout.limits),
        walls: parts.walls.measured(),
        ...(forwarding === null ? {} : { forwarding }),
      };
    },

    inspect: (expected, repair) =>
      inspectMachine(
        {
          ...parts,
          ...lifecycle,
          steps,
          serially,
          startRetries,
          measuredQuotas,
          retryStart: (record) => void bringUp(record),
        },
        expected,
        repair,
      ),

    addWordpress: (source) => wordpressVersions.add(source),
    addReleases: wordpressVersions.addReleases,
    addWpCli: (source) => parts.wpCliPhar.add(source),

    joinEdges: web.joinEdges,
    setRoutes: web.setRoutes,
    heldRoutes: web.heldRoutes,
    readSshHostKey: () => parts.ssh.readHostKey(),
    shareSshHostKey: async (key) => parts.ssh.shareHostKey(key, (await records.ids()).length === 0),
    holdWebsite: ({ id }, seconds) =>
      serially(id, () =>
        lifecycle.hold(id, seconds === null ? null : timestamp(parts.clock, seconds * 1_000)),
      ),
    releaseWebsite: ({ id }) => serially(id, () => lifecycle.release(id)),
    handOver: ({ id }) =>
      serially(id, async () => {
        startRetries.forget(id);
        await lifecycle.handOver(id);
      }),
    listRepository: ({ id }, after) => backups.files.list(id, after),
    readRepository: ({ id }, name, offset) => backups.files.read(id, name, offset),
    writeRepository: ({ id }, name, { content, ...part }) =>
      backups.files.write(id, { name, ...part, content: Buffer.from(content, 'base64') }),
    trimRepository: ({ id }, names) => backups.files.trim(id, names),
    observeWebsite: async (install, signal) => seenWebsite(await lookAt(install, signal)),
    compareWebsite: async (install, before, signal) => movedFault(await lookAt(install, signal), before),

    heldInstalls: inventory.heldInstalls,
    belongTo: inventory.belongTo,
    setAside: inventory.setAside,
  };
}

/** Why a website takes no commands while it is moved. */
const HELD = 'The website is moving to another machine. Try again in a minute.';

/** Logins with a name that an install could have; the control plane reserves these. */
const AS_INSTALL = new RegExp(`^${INSTALL_NAME}$`);

/** Deletes leftovers of a killed host, which it was creating or deleting. */
async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
}
