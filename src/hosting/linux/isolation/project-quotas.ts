import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { HOUR_MS } from '../../../lib/durations.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { DiskQuotaKind } from '../../contract/host.ts';
import { hasLimits, type InstallLimits, type InstallUsage } from '../../contract/install-limits.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { tryOrLog } from '../machine/try-or-log.ts';
import { machineQuotaAdvice } from './quota-advice.ts';

const PROGRAM = join(import.meta.dirname, 'perl', 'project-quota.pl');
/** The first assignment visits every file of a website. */
const ASSIGN_MS = HOUR_MS;
/** Folders of a home that the host writes. They have other limits. */
const NOT_COUNTED = ['logs'];
/** The number of the file system type in statfs(2). */
const EXT4 = 0xef53;

/** `counted`: the kernel counts the files of projects, but does not enforce limits. */
export type QuotaState = 'enforced' | 'counted' | 'off';

/**
 * Project quotas of the file system that the homes are on. The project of an install is its user id, which no other install has while
 * it exists. Processes in a sandbox cannot change the project of a file, because the kernel refuses that in user namespaces.
 */
export interface ProjectQuotas {
  /** Asks the kernel, and turns limits on where ext4 only counts. */
  state(): Promise<QuotaState>;
  /** Whether the kernel counts, as far as it was asked last. Cheap. */
  isOn(): Promise<boolean>;
  /** How to turn project quotas on; null if they are active or the file system cannot have them. By the last {@link state}. */
  advice(): Promise<string | null>;
  /** Gives a home with all its files to the project, and sets the present limits. Cheap if nothing changes. A failure is logged. */
  ensure(home: string, project: number): Promise<void>;
  /** Lifts the limits of a home, whose files are about to be replaced and exist twice until then. A failure is logged. */
  suspend(home: string): Promise<void>;
  /** Sets the limits again. A failure is logged. */
  resume(home: string): Promise<void>;
  /** Removes the limits of a home that is about to be deleted. A failure is logged. */
  release(home: string): Promise<void>;
  /** The counts of the kernel; null without a project. */
  usage(homes: readonly string[]): Promise<(InstallUsage | null)[]>;
}

export function createProjectQuotas({ layout, log }: { layout: LinuxLayout; log: Logger }): ProjectQuotas {
  let known: QuotaState | null = null;

  async function run(args: string[], input?: string): Promise<string> {
    const options = { timeoutMs: ASSIGN_MS, ...(input === undefined ? {} : { input }) };
    return (await runCommand('/usr/bin/perl', [PROGRAM, ...args], options)).stdout;
  }

  async function state(): Promise<QuotaState> {
    known = await kernelState();
    // ext4 with the features counts, but enforces only with the mount option. On XFS, the operator chose an option for counting only.
    if (known === 'counted' && (await statfs(layout.folder)).type === EXT4) {
      await tryOrLog(log, 'could not turn project quotas on', async () => {
        await run(['enforce', layout.folder]);
        known = await kernelState();
      });
    }
    return known;
  }

  async function kernelState(): Promise<QuotaState> {
    const answer = (await run(['state', layout.folder])).trim();
    return answer === 'enforced' || answer === 'counted' ? answer : 'off';
  }

  async function isOn(): Promise<boolean> {
    return (known ?? (await state())) !== 'off';
  }

  const limits = () => [layout.limits.bytes, layout.limits.files].map((limit) => String(limit ?? 0));

  /** A website must not stop because of its quota. */
  function ifOn(what: string, work: () => Promise<unknown>): Promise<void> {
    return tryOrLog(log, what, async () => {
      if (await isOn()) await work();
    });
  }

  const lift = (home: string) =>
    ifOn('could not lift the disk quota of a website', () => run(['limit', home, '0', '0']));

  return {
    state,
    isOn,
    advice: async () =>
      (known ?? (await state())) === 'enforced' ? null : machineQuotaAdvice(layout.folder),
    ensure: (home, project) =>
      ifOn('could not set the disk quota of a website', () =>
        run(['assign', home, String(project), ...limits(), ...NOT_COUNTED]),
      ),
    suspend: lift,
    resume: (home) =>
      ifOn('could not set the disk quota of a website', () => run(['limit', home, ...limits()])),
    release: lift,
    async usage(homes) {
      if (homes.length === 0 || !(await isOn())) return homes.map(() => null);
      const lines = (await run(['usage'], homes.map((home) => `${home}\n`).join(''))).split('\n');
      return homes.map((_, index) => usageIn(lines[index] ?? '-'));
    },
  };
}

/** How the files of installs are limited. Asks the kernel again. */
export async function quotaKind(
  quotas: Pick<ProjectQuotas, 'state' | 'advice'>,
  limits: InstallLimits,
): Promise<DiskQuotaKind> {
  const kind = (await quotas.state()) === 'enforced' ? 'project' : 'measured';
  return { kind: hasLimits(limits) ? kind : 'none', advice: await quotas.advice() };
}

function usageIn(line: string): InstallUsage | null {
  const [bytes, files] = line.split(' ').map(Number);
  return bytes === undefined || files === undefined ? null : { bytes, files };
}
