import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { MOST_OUTPUT_BYTES, WP_CLI_SECONDS, type WpCliOutcome } from '../../contract/wp-cli.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import { foldersOf, SANDBOX_WP_CLI, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { PHAR, PREPENDED } from './programs.ts';

/** Runs WP-CLI in installs, one command of each at a time. */
export interface WpCli {
  /** See `WpCliRunner`. */
  run(install: SandboxedInstall, args: readonly string[], signal?: AbortSignal): Promise<WpCliOutcome>;
  /** Replaces the website of an install: waits for its command to end, and refuses others until then. */
  whileRefused<Result>(installId: string, work: () => Promise<Result>): Promise<Result>;
  /** Ends the command of an install that is removed or set aside. */
  end(installId: string): Promise<void>;
  /** Call at the start of the host: ends commands that a killed host process left behind. */
  endLeftovers(): Promise<void>;
}

export interface WpCliOptions {
  layout: LinuxLayout;
  cgroups: Pick<Cgroups, 'set' | 'enter' | 'kill' | 'remove' | 'list'>;
  /** Limits of one command. */
  limits: ResourceLimits;
  /** Whether the machine has WP-CLI. */
  isThere(): Promise<boolean>;
  /** Time limit in milliseconds. */
  withinMs?: number;
}

/** A command that writes more is ended: reading it costs the host. */
const MOST_WRITTEN_BYTES = 64 * 1024 * 1024;
/** PHP's own limit, below that of the cgroup: its error names the limit, and the kernel's kill says nothing. */
const memoryLimit = (memoryMb: number) => Math.max(64, Math.floor((memoryMb * 3) / 4));

/** Operators add it as docs/linux-host.md says. */
const MISSING = 'This machine has no WP-CLI. Ask your provider to add it.';

const REPLACED =
  'The website is being replaced by a restore, a copy or an import. Run the command again when that has ended.';

const GROUP = 'wp-cli-';

/**
 * Each command has a cgroup, by which it is ended: a program that is killed while bwrap starts it can survive bwrap, whatever
 * `--die-with-parent` says.
 */
export function createWpCli(options: WpCliOptions): WpCli {
  const { layout, cgroups, limits, isThere, withinMs = WP_CLI_SECONDS * SECOND_MS } = options;
  const serially = serializeByKey();
  const replaced = new Set<string>();

  async function runInGroup(
    install: SandboxedInstall,
    args: readonly string[],
    signal?: AbortSignal,
  ): Promise<WpCliOutcome> {
    if (!(await isThere())) return { refused: 'missing', reason: MISSING };
    signal?.throwIfAborted();
    const { htdocs } = foldersOf(layout, install);
    const settings = {
      display_errors: 'stderr',
      memory_limit: `${memoryLimit(limits.memoryMb)}M`,
      auto_prepend_file: `${SANDBOX_WP_CLI}/${PREPENDED}`,
    };
    const php: [string, ...string[]] = [
      install.php.cli,
      ...Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}=${value}`]),
      `${SANDBOX_WP_CLI}/${PHAR}`,
    ];
    const input = [`--path=${htdocs}`, ...args].map((argument) => `${argument}\0`).join('');
    const group = `${GROUP}${install.id}`;
    await cgroups.set(group, limits);
    try {
      const command = [...cgroups.enter(group), ...sandboxCommand(layout, install, php, { tools: true })];
      return await runBounded(command, { input, withinMs, signal, kill: () => cgroups.kill(group) });
    } finally {
      await cgroups.remove(group);
    }
  }

  return {
    async run(install, args, signal) {
      if (replaced.has(install.id)) return { refused: 'website', reason: REPLACED };
      return serially(install.id, () => runInGroup(install, args, signal));
    },
    async whileRefused(installId, work) {
      replaced.add(installId);
      try {
        return await serially(installId, work);
      } finally {
        replaced.delete(installId);
      }
    },
    end: (installId) => cgroups.kill(`${GROUP}${installId}`),
    async endLeftovers() {
      for (const name of await cgroups.list()) if (name.startsWith(GROUP)) await cgroups.remove(name);
    },
  };
}

/** Runs a program to its end, or ends it at a limit. `kill`: ends all its processes. */
function runBounded(
  [program = '', ...args]: readonly string[],
  {
    input,
    withinMs,
    signal,
    kill,
  }: { input: string; withinMs: number; signal: AbortSignal | undefined; kill(): Promise<void> },
): Promise<WpCliOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let ended: WpCliOutcome | undefined;
    let written = 0;
    const killAll = () => {
      child.kill('SIGKILL');
      kill().catch(reject);
    };
    const end = (outcome: WpCliOutcome) => {
      ended ??= outcome;
      killAll();
    };
    const onBytes = (bytes: number) => {
      written += bytes;
      if (written > MOST_WRITTEN_BYTES) {
        end({ refused: 'output', reason: 'The command was ended, because it wrote more than 64 MB.' });
      }
    };
    const stdout = keepStart(child.stdout, onBytes);
    const stderr = keepStart(child.stderr, onBytes);
    const timer = setTimeout(() => {
      const seconds = Math.round(withinMs / SECOND_MS);
      end({
        refused: 'time',
        reason: `The command was ended, because it took longer than ${seconds} seconds.`,
      });
    }, withinMs);
    signal?.addEventListener('abort', killAll);
    const settle = (work: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', killAll);
      work();
    };
    child.once('error', (error) => settle(() => reject(error)));
    child.once('close', (code, killedBy) =>
      settle(() => {
        if (signal?.aborted) return reject(signal.reason);
        if (ended !== undefined) return resolve(ended);
        const [out, err] = [stdout(), stderr()];
        resolve({
          exitStatus: code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]),
          stdout: out.text,
          stderr: err.text,
          stdoutTruncated: out.isTruncated,
          stderrTruncated: err.isTruncated,
        });
      }),
    );
    // A command that ends early closes the pipe; its exit status is what counts.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** Keeps the first {@link MOST_OUTPUT_BYTES} of a stream, and reads the rest away. */
function keepStart(stream: Readable, onBytes: (bytes: number) => void) {
  const kept: Buffer[] = [];
  let room = MOST_OUTPUT_BYTES;
  let isTruncated = false;
  stream.on('data', (chunk: Buffer) => {
    onBytes(chunk.length);
    if (chunk.length > room) isTruncated = true;
    if (room === 0) return;
    const part = chunk.subarray(0, room);
    kept.push(part);
    room -= part.length;
  });
  return () => ({ text: decoded(Buffer.concat(kept), isTruncated), isTruncated });
}

/** The text, without a character that was cut in the middle. */
function decoded(bytes: Buffer, isTruncated: boolean): string {
  return new TextDecoder().decode(bytes, { stream: isTruncated });
}
