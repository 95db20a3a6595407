import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../clock.ts';
import { parseUuid, type Randomness, systemRandomness } from '../../../ids.ts';
import { type InstallRef, PermanentHostError, type Snapshot } from '../../host.ts';
import { createSerial } from '../../serial.ts';
import type { Databases } from '../daemons/databases.ts';
import type { HostedInstall } from '../hosted-install.ts';
import type { LinuxLayout } from '../layout.ts';
import { runCommand } from '../run-command.ts';
import { linkSite } from '../wordpress/site-files.ts';
import type { Websites } from '../wordpress/website.ts';
import { DamagedBackupError, type Description } from './archive-manifest.ts';
import { readArchive } from './archive-read.ts';
import { writeArchive } from './archive-write.ts';
import { createExchange, type ExchangeStep, type Workshop } from './exchange.ts';
import { newRepository } from './new-repository.ts';
import { type RepositoryPlace, repositoryPlaces, type S3Credentials } from './place.ts';
import { writeTo } from './programs.ts';
import { isWrongPassword, type Restic, resticOn } from './restic.ts';
import { siteHosts } from './site-hosts.ts';
import { explainPacking, packWebsite, unpackWebsite } from './website-tar.ts';

/** Backups of websites: files and database in one snapshot of restic, in a repository of its own for each install. */
export interface Backups {
  /** See `Host.snapshot`. If the backup is there already and whole, it is left as it is. */
  snapshot(install: HostedInstall, backupId: string, signal?: AbortSignal): Promise<Snapshot>;
  /** See `Host.restore`. `from`: the install that the backup is of. Caches and PHP are the caller's to renew. */
  restore(
    target: HostedInstall,
    backupId: string,
    options: { from: InstallRef; signal?: AbortSignal | undefined },
  ): Promise<Snapshot>;
  /** Ends or undoes a restore that was broken off. To be called before anything else is done with the website. */
  recover(installId: string): Promise<void>;
  /** See `Host.discardSnapshot`. */
  discard(install: InstallRef, backupId: string): Promise<void>;
  /** Deletes the repository of an install, and what was being made for it. */
  removeAll(installId: string): Promise<void>;
}

export interface BackupsOptions {
  layout: LinuxLayout;
  databases: Databases;
  websites: Pick<Websites, 'replaceUrls'>;
  /** `HOMEPORT_BACKUP_REPOSITORY`; null: in `layout.backups`. */
  repository: string | null;
  credentials: S3Credentials | null;
  passwordOf(installId: string): Promise<string>;
  log: Logger;
  clock: Clock;
  random?: Randomness;
  /** Called after each step of an exchange: where a test breaks off. */
  reached?: ((step: ExchangeStep) => Promise<void>) | undefined;
}

const SYNC_MS = 10 * 60_000;

/** Throws an OperatorError if the repository cannot be meant. */
export function createBackups(options: BackupsOptions): Backups {
  const { layout, databases, websites, passwordOf, log, clock, random = systemRandomness } = options;
  const placeOf = repositoryPlaces(options.repository, options.credentials, layout.backups);
  const exchange = createExchange(databases, { reached: options.reached });
  /** By install: of its files, and of its repository, which a restore into another install reads. */
  const serially = createSerial();
  const onRepository = createSerial();
  const scratchFile = (installId: string, purpose: string) =>
    join(layout.scratch, `${purpose}-${canonicalId(installId)}.sql`);

  /** The repository of an install; null if it has none. */
  async function openRepository(installId: string): Promise<Restic | null> {
    const place = placeOf(canonicalId(installId));
    return (await place.storage.has('config')) ? resticOn(place, await passwordOf(installId)) : null;
  }

  async function makeRepository(place: RepositoryPlace, password: string): Promise<void> {
    const { key, config } = await newRepository(password, { random, now: clock.now() });
    await place.storage.write(key.name, key.content);
    await place.storage.write(config.name, config.content);
  }

  async function snapshot(
    install: HostedInstall,
    backupId: string,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    const { ref } = install;
    await exchange.recover(layout.homeOf(ref.id));
    const dump = scratchFile(ref.id, 'backup');
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    try {
      const [{ restic, ids }, leftOut] = await both(
        repositoryWith(ref.id, backupId, signal),
        databases.dump(install.database, dump, signal),
      );
      if (leftOut.length > 0) {
        log.warn({ install: ref.id, views: leftOut }, 'views of what is gone are not in the backup');
      }
      const existing = await wholeOne(restic, ids, install, signal);
      if (existing !== null) return existing;
      const written = await write(restic, install, backupId, dump, signal);
      return await readBack(restic, install, written, signal);
    } catch (error) {
      throw explainRepository(error, ref);
    } finally {
      await rm(dump, { force: true });
    }
  }

  /** The repository of an install, made if it has none, and the snapshots of a backup in it. */
  async function repositoryWith(
    installId: string,
    backupId: string,
    signal: AbortSignal | undefined,
  ): Promise<{ restic: Restic; ids: string[] }> {
    const present = await openRepository(installId);
    if (present !== null) return { restic: present, ids: await present.find(backupId, signal) };
    const place = placeOf(installId);
    const password = await passwordOf(installId);
    await makeRepository(place, password);
    return { restic: resticOn(place, password), ids: [] };
  }

  /** The backup if it is there and whole. What an earlier run left that is not is forgotten. */
  async function wholeOne(
    restic: Restic,
    ids: string[],
    { ref }: HostedInstall,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot | null> {
    for (const id of ids) {
      try {
        return await verify(restic, id, ref, signal);
      } catch (error) {
        if (!(error instanceof DamagedBackupError)) throw error;
        log.warn({ install: ref.id, reason: error.message }, 'half a backup is made anew');
      }
    }
    if (ids.length > 0) await restic.forget(ids);
    return null;
  }

  async function write(
    restic: Restic,
    install: HostedInstall,
    backupId: string,
    dump: string,
    signal: AbortSignal | undefined,
  ): Promise<{ id: string; archive: Snapshot }> {
    signal?.throwIfAborted();
    const tar = await packWebsite(layout, install.sandbox);
    const keeper = restic.backUp(backupId);
    const stop = () => Promise.all([keeper.stop(), tar.stop()]);
    signal?.addEventListener('abort', stop);
    tar.stdin.end();
    try {
      const archive = await writeArchive(
        { description: describe(install), dump, files: tar.stdout, filesEnded: tar.ended },
        (bytes) => writeTo(keeper.stdin, bytes),
      );
      signal?.throwIfAborted();
      // Only now: an archive that ends too early must not become a backup.
      keeper.stdin.end();
      const id = await keeper.id;
      const { stderr } = await tar.ended;
      if (stderr !== '')
        log.info(
          { install: install.ref.id, tar: stderr.slice(-2000) },
          'files changed while they were backed up',
        );
      return { id, archive };
    } catch (error) {
      const [resticFailure, tarFailure] = await stop();
      signal?.throwIfAborted();
      throw explainPacking(tarFailure ?? resticFailure ?? error);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async function readBack(
    restic: Restic,
    { ref }: HostedInstall,
    { id, archive }: { id: string; archive: Snapshot },
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    try {
      const seen = await verify(restic, id, ref, signal);
      if (seen.sha256 !== archive.sha256) throw new DamagedBackupError('its checksum is another');
      return seen;
    } catch (error) {
      if (!(error instanceof DamagedBackupError)) throw error;
      await restic.forget([id]);
      // The disk's or the memory's fault, and worth another try.
      throw new Error(`The new backup of ${ref.name} was not read back as written: ${error.message}.`, {
        cause: error,
      });
    }
  }

  /** Reads a snapshot to its end. Rejects with a {@link DamagedBackupError} if it is not whole, or of another website. */
  async function verify(
    restic: Restic,
    snapshotId: string,
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    return read(restic, snapshotId, from, signal, {});
  }

  async function read(
    restic: Restic,
    snapshotId: string,
    from: InstallRef,
    signal: AbortSignal | undefined,
    reader: Parameters<typeof readArchive>[1],
  ): Promise<Snapshot> {
    signal?.throwIfAborted();
    const keeper = restic.read(snapshotId);
    const stop = () => keeper.stop();
    signal?.addEventListener('abort', stop);
    keeper.stdin.end();
    try {
      const seen = await readArchive(keeper.stdout, {
        ...reader,
        description(description) {
          if (description.install_id !== from.id) throw new DamagedBackupError('it is of another website');
          return reader?.description?.(description);
        },
      });
      await keeper.ended;
      return seen;
    } catch (error) {
      const failure = await stop();
      signal?.throwIfAborted();
      throw failure === null ? error : damage(failure);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async function restore(
    target: HostedInstall,
    backupId: string,
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<Snapshot> {
    const { ref, sandbox, database, unixUser } = target;
    const home = layout.homeOf(ref.id);
    const owner = { database, unixUser };
    await exchange.recover(home);
    try {
      const [{ restic, id }, workshop] = await both(
        requireBackup(from, backupId, signal),
        exchange.prepare(home, owner, sandbox),
      );
      const restored = await fill(restic, id, target, workshop, from, signal);
      // The core that the website is on now, whichever it was on then.
      await linkSite(layout, { ...sandbox, home: workshop.folder });
      if (ref.id !== from.id) await takeOwnName(target, workshop, restored.description);
      await runCommand('/usr/bin/sync', ['--file-system', workshop.folder], { timeoutMs: SYNC_MS });
      signal?.throwIfAborted();
      await exchange.exchange(home, owner);
      return restored.snapshot;
    } catch (error) {
      await exchange.recover(home).catch((err: unknown) => {
        log.error(
          { err, install: ref.id },
          'a restore could not be undone; it is tried again when the host starts',
        );
      });
      throw explainRestore(explainRepository(error, from), from, backupId);
    }
  }

  async function requireBackup(
    from: InstallRef,
    backupId: string,
    signal: AbortSignal | undefined,
  ): Promise<{ restic: Restic; id: string }> {
    const restic = await openRepository(from.id);
    const [id] = restic === null ? [] : await restic.find(backupId, signal);
    if (restic !== null && id !== undefined) return { restic, id };
    throw new PermanentHostError(`There is no backup ${backupId} of ${from.name} that this host can reach.`);
  }

  /** Fills the workshop from a snapshot, and checks all of it on the way. The database is loaded while files are still coming. */
  async function fill(
    restic: Restic,
    snapshotId: string,
    { ref, sandbox }: HostedInstall,
    workshop: Workshop,
    from: InstallRef,
    signal: AbortSignal | undefined,
  ): Promise<{ snapshot: Snapshot; description: Description }> {
    const dumpFile = scratchFile(ref.id, 'restore');
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    await rm(dumpFile, { force: true });
    const dump = await open(dumpFile, 'wx', 0o600);
    const tar = unpackWebsite(layout, sandbox, workshop.folder);
    tar.stdout.resume();
    const seen: { description: Description | null } = { description: null };
    let loading: Promise<void> = Promise.resolve();
    try {
      const snapshot = await read(restic, snapshotId, from, signal, {
        description(description) {
          seen.description = description;
        },
        dump: async (bytes) => void (await dump.writeFile(bytes)),
        async dumpEnded() {
          await dump.close();
          loading = databases.load(workshop.database, dumpFile, signal);
          // Awaited below; until then its failure must not count as unhandled.
          loading.catch(() => {});
        },
        files: (bytes) => writeTo(tar.stdin, bytes),
      });
      tar.stdin.end();
      await tar.ended;
      await loading;
      if (seen.description === null) throw new Error('a backup without a description was read to its end');
      return { snapshot, description: seen.description };
    } catch (error) {
      const failure = await tar.stop();
      await loading.catch(() => {});
      signal?.throwIfAborted();
      throw failure ?? error;
    } finally {
      await dump.close();
      await rm(dumpFile, { force: true });
    }
  }

  /** A website that comes from another install is reached at its own name from now on. */
  async function takeOwnName(
    { sandbox, primaryHostname }: HostedInstall,
    workshop: Workshop,
    { primary_hostname }: Description,
  ): Promise<void> {
    const hosts = [primary_hostname, ...(await siteHosts(databases, workshop.database))];
    const others = [...new Set(hosts)].filter((host) => host !== primaryHostname);
    if (others.length > 0) await websites.replaceUrls(sandbox, workshop.database, others, primaryHostname);
  }

  async function discard(install: InstallRef, backupId: string): Promise<void> {
    try {
      const restic = await openRepository(install.id);
      const ids = restic === null ? [] : await restic.find(backupId);
      if (restic === null || ids.length === 0) return;
      await restic.forget(ids);
      await restic.prune();
    } catch (error) {
      throw explainRepository(error, install);
    }
  }

  async function removeAll(installId: string): Promise<void> {
    await placeOf(canonicalId(installId)).storage.removeAll();
    for (const purpose of ['backup', 'restore']) await rm(scratchFile(installId, purpose), { force: true });
  }

  return {
    snapshot: (install, backupId, signal) =>
      serially(install.ref.id, () =>
        onRepository(install.ref.id, () => snapshot(install, canonicalId(backupId), signal)),
      ),
    restore: (target, backupId, { from, signal }) =>
      serially(target.ref.id, () =>
        onRepository(from.id, () => restore(target, canonicalId(backupId), from, signal)),
      ),
    recover: (installId) => serially(installId, () => exchange.recover(layout.homeOf(installId))),
    discard: (install, backupId) => onRepository(install.id, () => discard(install, canonicalId(backupId))),
    removeAll: (installId) => onRepository(installId, () => removeAll(installId)),
  };
}

/** Both, side by side; a failure is told only when the other has ended as well, so that nothing is undone under its hands. */
async function both<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

function describe({ ref, sandbox, primaryHostname }: HostedInstall): Description {
  return {
    format: 'homeport-backup',
    version: 1,
    install_id: ref.id,
    install_name: ref.name,
    primary_hostname: primaryHostname,
    wordpress_version: sandbox.wordpressVersion,
  };
}

/** Identifiers become names of folders and tags, so nothing else than a UUID may get there. */
function canonicalId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`${JSON.stringify(id)} is not a lower-case UUID.`);
  return id;
}

/** restic that cannot give back what it was given: its repository is damaged. */
function damage(failure: Error): Error {
  if (isWrongPassword(failure)) return failure;
  const reason =
    /(?:ciphertext verification failed|invalid data returned|wrong data returned|not found in index|does not exist|no such file|invalid blob|blob .* not found|hash does not match|decrypting .* failed)/i.exec(
      failure.message,
    );
  if (reason === null) return failure;
  return new DamagedBackupError(`restic cannot read it (${reason[0]})`, { cause: failure });
}

function explainRepository(error: unknown, { name }: InstallRef): unknown {
  if (!isWrongPassword(error)) return error;
  return new PermanentHostError(
    `The backups of ${name} were made with another sealing key; put that key back (HOMEPORT_SEALING_KEY_FILE).`,
    { cause: error },
  );
}

function explainRestore(error: unknown, from: InstallRef, backupId: string): unknown {
  if (!(error instanceof DamagedBackupError)) return error;
  return new PermanentHostError(
    `The backup ${backupId} of ${from.name} is damaged: ${error.message}. The website was not touched.`,
    { cause: error },
  );
}
