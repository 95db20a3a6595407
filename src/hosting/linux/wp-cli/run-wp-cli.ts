import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { Writable } from 'node:stream';
import type { WpCliOutcome } from '../../contract/wp-cli.ts';
import { type Bounds, runBounded } from '../../wordpress/wp-cli/run-bounded.ts';
import { createWpCliTurns, type WpCliTurns } from '../../wordpress/wp-cli/turns.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import { foldersOf, SANDBOX_WP_CLI, type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import type { ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { commandSettings } from '../php/compiled-code.ts';
import { ARGUMENTS_FD, PHAR, PREPENDED } from './programs.ts';

/** Runs WP-CLI in installs, one command of each at a time. */
export interface WpCli extends Pick<WpCliTurns, 'whileRefused'> {
  /** See `WpCliRunner`. */
  run(install: SandboxedInstall, args: readonly string[], signal?: AbortSignal): Promise<WpCliOutcome>;
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

/** PHP's own limit, below that of the cgroup: its error names the limit, and the kernel's kill says nothing. */
const memoryLimit = (memoryMb: number) => Math.max(64, Math.floor((memoryMb * 3) / 4));

/** Operators add it as docs/linux-host.md says. */
const MISSING = 'This machine has no WP-CLI. Ask your provider to add it.';

const GROUP = 'wp-cli-';

/**
 * Each command has a cgroup. The host ends the command by killing its cgroup, because a program that is killed while bwrap starts it can
 * survive bwrap, whatever `--die-with-parent` says.
 */
export function createWpCli(options: WpCliOptions): WpCli {
  const { layout, cgroups, limits, isThere, withinMs } = options;
  const turns = createWpCliTurns();

  async function runInGroup(
    install: SandboxedInstall,
    args: readonly string[],
    signal?: AbortSignal,
  ): Promise<WpCliOutcome> {
    if (!(await isThere())) return { refused: 'missing', reason: MISSING };
    signal?.throwIfAborted();
    const folders = foldersOf(layout, install);
    const settings = {
      display_errors: 'stderr',
      memory_limit: `${memoryLimit(limits.memoryMb)}M`,
      auto_prepend_file: `${SANDBOX_WP_CLI}/${PREPENDED}`,
      ...commandSettings(install),
    };
    const php: [string, ...string[]] = [
      install.php.cli,
      ...Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}=${value}`]),
      `${SANDBOX_WP_CLI}/${PHAR}`,
    ];
    const input = [`--path=${folders.htdocs}`, ...args].map((argument) => `${argument}\0`).join('');
    const group = `${GROUP}${install.id}`;
    await cgroups.set(group, limits);
    try {
      // Dumps and exports go to the working folder, and what is in htdocs is public.
      const sandbox = sandboxCommand(layout, install, php, {
        tools: true,
        preferredFolder: folders.private,
        showCompiled: true,
      });
      const command = [...cgroups.enter(group), ...sandbox];
      return await runProgram(command, { args: input, withinMs, signal, kill: () => cgroups.kill(group) });
    } finally {
      await cgroups.remove(group);
    }
  }

  return {
    run: (install, args, signal) => turns.run(install.id, () => runInGroup(install, args, signal)),
    whileRefused: turns.whileRefused,
    end: (installId) => cgroups.kill(`${GROUP}${installId}`),
    async endLeftovers() {
      for (const name of await cgroups.list()) if (name.startsWith(GROUP)) await cgroups.remove(name);
    },
  };
}

/** Runs a program, which reads `args` from its descriptor {@link ARGUMENTS_FD} and can read no input. `kill`: ends all its processes. */
function runProgram(
  [program = '', ...words]: readonly string[],
  { args, kill, ...bounds }: Bounds & { args: string; kill(): Promise<void> },
): Promise<WpCliOutcome> {
  // Reading what is open for writing fails, unlike the end of an input.
  const unreadable = openSync('/dev/null', 'w');
  return runBounded((take) => {
    const child = spawn(program, words, {
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' },
      stdio: [unreadable, 'pipe', 'pipe', 'pipe'],
    });
    const input = child.stdio[ARGUMENTS_FD];
    child.stdout?.on('data', take.stdout);
    child.stderr?.on('data', take.stderr);
    // A command that ends early closes the pipe; its exit status is what counts.
    input?.on('error', () => {});
    if (input instanceof Writable) input.end(args);
    const killed = Promise.withResolvers<never>();
    const ended = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, killedBy) =>
        resolve(code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy])),
      );
    });
    return {
      ended: Promise.race([ended, killed.promise]),
      kill() {
        child.kill('SIGKILL');
        kill().catch(killed.reject);
      },
    };
  }, bounds).finally(() => closeSync(unreadable));
}
