import { randomUUID } from 'node:crypto';
import { chmod, chown, copyFile, mkdir, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Logger } from 'pino';
import { type Repetition, repeatEvery, serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { downloadVerified } from '../../policy/verified-download.ts';
import { packagedFiles } from '../../wordpress/packaged-files.ts';
import { readSystemFile, writeSystemFile } from '../isolation/system-file.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { PhpRuntime } from '../machine/php-runtimes.ts';
import { PROGRAM_FILES, pharOf } from './programs.ts';

/** WP-CLI on this machine: one phar of root, which all sandboxes can read. */
export interface WpCliPhar {
  /** Writes the files beside the phar, and a missing phar. Downloads it in the background, and tries again every hour. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whether the phar is there. */
  isThere(): Promise<boolean>;
  /**
   * Fetches the newest phar and returns its version. `source`: the path of a phar, `packaged` or `official`; null for the configured one. Rejects
   * with a {@link PermanentHostError} if it is not WP-CLI or does not match its published checksum.
   */
  add(source: string | null): Promise<string>;
  /** Why it is missing, in one sentence; null if it is there or the operator wants none. */
  check(): Promise<string | null>;
}

export interface WpCliPharOptions {
  layout: LinuxLayout;
  /** The path of a phar, `packaged`, `official`, or `none`. */
  source: string;
  /** Address of the official phar. Its checksum is beside it. */
  url: string;
  /** The PHP that tries it. */
  php(): Promise<PhpRuntime>;
  log: Logger;
  fetch?: typeof fetch;
}

/** Several times the size of WP-CLI. */
const MOST_BYTES = 64 * 1024 * 1024;
const TRIED_WITHIN_MS = 30_000;
const NOBODY = { uid: 65_534, gid: 65_534 };

export function createWpCliPhar(options: WpCliPharOptions): WpCliPhar {
  const { layout, source: configured, url, php, log } = options;
  const serial = serializeByKey();
  let attempts: Repetition | undefined;
  let failure: string | null = null;

  const isThere = async () => (await ifThere(stat(pharOf(layout)))) !== null;

  async function writePrograms(): Promise<void> {
    await mkdir(layout.wpCli, { recursive: true, mode: 0o755 });
    for (const { name, text, mode } of PROGRAM_FILES) {
      const path = join(layout.wpCli, name);
      if ((await readSystemFile(path)) !== text) await writeSystemFile(path, text, { mode });
    }
  }

  /** An installation without the optional package downloads the phar. */
  const packagedPhar = () => packagedFiles()?.wpCli ?? 'official';

  const placeOf = (source: string) => (source === 'packaged' ? packagedPhar() : source);

  async function add(source: string): Promise<string> {
    const from = placeOf(source);
    if (source === 'none') {
      throw new PermanentHostError(
        'HOMEPORT_WP_CLI_SOURCE of this machine is "none". Name another source, such as "official"',
      );
    }
    await writePrograms();
    const candidate = join(layout.wpCli, `.${randomUUID()}.phar`);
    try {
      await fetchInto(from, candidate);
      await chown(candidate, 0, 0);
      await chmod(candidate, 0o644);
      const version = await versionOf(candidate, from === 'official' ? url : from);
      await rename(candidate, pharOf(layout));
      await syncFolder(layout.wpCli);
      failure = null;
      log.info({ version }, `WP-CLI ${version} added`);
      return version;
    } finally {
      await rm(candidate, { force: true });
    }
  }

  async function fetchInto(source: string, path: string): Promise<void> {
    if (source === 'official') {
      const checksums = ['sha512', 'sha256'] as const;
      await downloadVerified(
        { address: url, checksums, mostBytes: MOST_BYTES, path, what: 'WP-CLI' },
        options.fetch,
      );
      return;
    }
    if (!isAbsolute(source)) {
      throw new PermanentHostError(
        `"${source}" is not a source of WP-CLI: give the absolute path of its phar, "packaged" or "official"`,
      );
    }
    if (!(await ifThere(stat(source)))?.isFile()) throw new PermanentHostError(`${source} is not a file`);
    await copyFile(source, path);
  }

  /** Runs the phar as nobody, without network, in a sandbox that shows only PHP. */
  async function versionOf(phar: string, called: string): Promise<string> {
    const runtime = await php();
    const command = [
      ...['/usr/bin/setpriv', `--reuid=${NOBODY.uid}`, `--regid=${NOBODY.gid}`],
      ...['--clear-groups', '--no-new-privs'],
      ...['/usr/bin/bwrap', '--unshare-all', '--die-with-parent', '--clearenv'],
      ...['--setenv', 'HOME', '/tmp', '--setenv', 'PATH', '/usr/bin:/bin'],
      ...['--ro-bind', join(runtime.root, 'usr'), '/usr'],
      ...['bin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
      ...['--ro-bind', join(runtime.root, 'etc/php', runtime.version), `/etc/php/${runtime.version}`],
      ...['--ro-bind', phar, '/wp-cli.phar'],
      ...['--proc', '/proc', '--dev', '/dev', '--size', String(MOST_BYTES), '--tmpfs', '/tmp'],
      ...['--chdir', '/tmp', '--', runtime.cli, '-d', 'memory_limit=256M', '/wp-cli.phar', '--version'],
    ];
    const [program = '', ...args] = command;
    const { stdout } = await runCommand(program, args, { timeoutMs: TRIED_WITHIN_MS }).catch((cause) => {
      throw new PermanentHostError(`${called} does not run as WP-CLI: ${messageOf(cause)}`, { cause });
    });
    const version = /^WP-CLI (\d[\w.+-]{0,60})$/m.exec(stdout)?.[1];
    if (version === undefined) throw new PermanentHostError(`${called} is not WP-CLI`);
    return version;
  }

  async function ensure(): Promise<void> {
    if (await isThere()) return;
    try {
      await serial('add', () => add(configured));
    } catch (error) {
      failure = messageOf(error);
      throw error;
    }
  }

  return {
    async start() {
      await writePrograms();
      if (configured === 'none') return;
      const onError = (err: unknown) =>
        log.warn({ err }, 'could not fetch WP-CLI; installs are served without it');
      // The host tells the platform what it has as soon as it has started.
      const isHere = placeOf(configured) !== 'official';
      if (isHere) await ensure().catch(onError);
      attempts = repeatEvery(ensure, { delayMs: HOUR_MS, onError, immediately: !isHere });
    },
    async stop() {
      void attempts?.stop();
    },
    isThere,
    add: (source) => serial('add', () => add(source ?? configured)),
    async check() {
      if (configured === 'none' || (await isThere())) return null;
      return `It is missing${failure === null ? '' : `: ${failure}`}.`;
    },
  };
}
