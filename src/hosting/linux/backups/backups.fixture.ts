import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lchownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { systemClock } from '../../../lib/clock.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { startWordPressMachine } from '../wordpress/machine.fixture.ts';
import { linkSite } from '../wordpress/site-files.ts';
import { type Backups, type BackupsOptions, createBackups } from './backups.ts';

/** Of a website that is enough to be backed up: the shared core has nothing but a file. */
const VERSION = '6.8.7';

export type BackupMachine = Awaited<ReturnType<typeof startBackupMachine>>;

/** A machine on which backups can be tried; websites on it are files and tables, and no WordPress. */
export async function startBackupMachine() {
  const machine = await startWordPressMachine({ ownCores: true });
  const { layout, databases } = machine;
  const core = layout.coreOf(VERSION);
  mkdirSync(join(core, 'wp-content', 'themes', 'twenty'), { recursive: true, mode: 0o755 });
  writeFileSync(join(core, 'wp-load.php'), '<?php');

  const homeOf = ({ ref }: HostedInstall) => layout.homeOf(ref.id);
  const inHtdocs = (install: HostedInstall, ...path: string[]) => join(homeOf(install), 'htdocs', ...path);

  return {
    ...machine,
    homeOf,
    inHtdocs,
    repositoryOf: ({ ref }: HostedInstall) => join(layout.backups, ref.id),

    /** Backups without shared state, as in another process. */
    backupsWith: (options: Partial<BackupsOptions> = {}): Backups =>
      createBackups({
        layout,
        databases,
        quotas: machine.quotas,
        websites: {
          makeImportedFiles: async () => {},
          replaceUrls: () => Promise.reject(new Error('there is no WordPress to replace URLs in')),
        },
        repository: null,
        credentials: null,
        passwordOf: async (installId) => `password of ${installId}`,
        log: pino({ level: 'silent' }),
        clock: systemClock,
        ...options,
      }),

    hosted(
      { install, database }: Awaited<ReturnType<typeof machine.newInstall>>,
      primaryHostname = 'shop.example',
    ): HostedInstall {
      const { id, name } = install;
      return {
        ref: { id, name },
        sandbox: install,
        database,
        unixUser: name,
        primaryHostname,
        secure: false,
      };
    },

    /** A website with a file, and a table `notes` with a row. */
    async newWebsite(): Promise<HostedInstall> {
      const install = this.hosted(await machine.newInstall(VERSION));
      this.put(install, 'index.html', 'hello');
      await linkSite(layout, install.sandbox);
      await databases.query(
        install.database,
        "CREATE TABLE notes (id INT PRIMARY KEY, text VARCHAR(100)); INSERT INTO notes VALUES (1, 'first')",
      );
      return install;
    },

    put(install: HostedInstall, path: string, content: string | Buffer): void {
      writeFileSync(inHtdocs(install, path), content);
      lchownSync(inHtdocs(install, path), install.sandbox.uid, install.sandbox.gid);
    },

    /** All files of a website: modes, owners, times, links and checksums. */
    filesOf(install: HostedInstall): string {
      const find = (...args: string[]) =>
        execFileSync('find', ['htdocs', 'private', ...args], { cwd: homeOf(install), encoding: 'utf8' });
      const files = find('-type', 'f', '-printf', '%p %m %U %G %Ts %s\\n');
      const others = find('!', '-type', 'f', '-printf', '%p %y %m %U %l\\n');
      const sums = find('-type', 'f', '-exec', 'sha256sum', '{}', '+');
      return [files, others, sums].map((text) => text.split('\n').sort().join('\n')).join('\n');
    },

    async notesOf(install: HostedInstall): Promise<string[]> {
      return (await databases.query(install.database, 'SELECT text FROM notes ORDER BY id')).flat();
    },

    /** Leftovers that restores and backups must avoid. */
    async leftoversOf(install: HostedInstall): Promise<string[]> {
      const scratch = existsSync(layout.scratch) ? readdirSync(layout.scratch) : [];
      const inHome = readdirSync(homeOf(install)).filter((name) => name.startsWith('.restore'));
      const left = (await databases.list()).filter((name) => /_new$|_exchange_|_replaced_/.test(name));
      return [...scratch.filter((name) => name.endsWith('.sql')), ...inHome, ...left];
    },

    /** Leaves the repository of an install locked, as a restic does that is killed while it has it for itself. */
    async killPrune(install: HostedInstall): Promise<void> {
      const repository = join(layout.backups, install.ref.id);
      // While it is written, a lock has a longer name.
      const locks = () =>
        readdirSync(join(repository, 'locks')).filter((name) => /^[0-9a-f]{64}$/.test(name));
      while (locks().length === 0) {
        const prune = spawn('restic', ['-r', repository, '--no-cache', 'prune'], {
          env: { PATH: process.env.PATH, RESTIC_PASSWORD: `password of ${install.ref.id}` },
          stdio: 'ignore',
        });
        const gone = once(prune, 'exit');
        while (locks().length === 0 && prune.exitCode === null) await sleep(2);
        prune.kill('SIGKILL');
        await gone;
      }
    },

    /** restic itself, on the repository of an install. */
    restic: (install: HostedInstall, args: string[], input?: Buffer): Buffer =>
      execFileSync('restic', ['-r', join(layout.backups, install.ref.id), '--no-cache', ...args], {
        env: { PATH: process.env.PATH, RESTIC_PASSWORD: `password of ${install.ref.id}` },
        maxBuffer: 1e9,
        stdio: ['pipe', 'pipe', 'pipe'],
        ...(input === undefined ? {} : { input }),
      }),
  };
}
