import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { hasLimits, type InstallLimits, type InstallUsage } from '../../contract/install-limits.ts';
import { fillOf, measureAgainMs, nextWebsiteMs } from '../../policy/measuring-pace.ts';
import type { SandboxedProcesses } from './write-limit.ts';

/** Largest file that a full website can still write: locks, sessions and settings fit, images and archives do not. */
export const FULL_WRITE_BYTES = 64 * 1024;
/** How often new processes of full websites are limited. */
const LIMIT_AGAIN_MS = MINUTE_MS / 2;

/** A website that is measured. */
export interface MeasuredInstall {
  id: string;
  name: string;
  uid: number;
  gid: number;
}

/** Limits by measuring, for file systems without project quotas. They act late and refuse only large files: see {@link FULL_WRITE_BYTES}. */
export interface MeasuredQuotas {
  start(): void;
  stop(): Promise<void>;
  /** Measures the website that is due, if any, and limits its writes or lifts their limit. */
  check(): Promise<void>;
  /** Whether its writes are limited. */
  isFull(installId: string): boolean;
}

interface Measured {
  fill: number;
  dueAt: number;
  isFull: boolean;
}

export function createMeasuredQuotas({
  limits,
  installs,
  measure,
  findSandboxed,
  whileIdle,
  clock,
  log,
}: {
  limits: InstallLimits;
  installs(): MeasuredInstall[];
  /** May stop as soon as a limit is exceeded. */
  measure(install: MeasuredInstall): Promise<InstallUsage>;
  /** Searches all processes of the machine. */
  findSandboxed(): Promise<SandboxedProcesses>;
  /** Runs `work` unless other work on the install is in progress, whose programs must write. */
  whileIdle(installId: string, work: () => Promise<void>): Promise<void>;
  clock: Clock;
  log: Logger;
}): MeasuredQuotas {
  const measured = new Map<string, Measured>();
  let repetition: Repetition | undefined;
  let limitedAt = Number.NEGATIVE_INFINITY;
  let pauseMs = nextWebsiteMs(0);
  let isFullest = false;

  const now = () => clock.now().getTime();

  /**
   * Alternates between the fullest website that is due and the one that waits longest. Full websites are due often, and must not take the
   * turns of all others.
   */
  function nextDue(present: readonly MeasuredInstall[]): MeasuredInstall | undefined {
    const dueAt = ({ id }: MeasuredInstall) => measured.get(id)?.dueAt ?? 0;
    const fill = ({ id }: MeasuredInstall) => measured.get(id)?.fill ?? 0;
    const due = present.filter((install) => dueAt(install) <= now());
    isFullest = !isFullest;
    return due.toSorted((a, b) => (isFullest ? fill(b) - fill(a) : dueAt(a) - dueAt(b)))[0];
  }

  async function limitFull(present: readonly MeasuredInstall[]): Promise<void> {
    if (now() < limitedAt + LIMIT_AGAIN_MS) return;
    limitedAt = now();
    const full = present.filter(({ id }) => measured.get(id)?.isFull);
    if (full.length === 0) return;
    const processes = await findSandboxed();
    for (const install of full) {
      await whileIdle(install.id, () => processes.limitWrites(install, FULL_WRITE_BYTES));
    }
  }

  async function limitWrites(install: MeasuredInstall, bytes: number | null): Promise<void> {
    await (await findSandboxed()).limitWrites(install, bytes);
  }

  async function measureOne(install: MeasuredInstall): Promise<void> {
    const startedAt = now();
    const fill = fillOf(await measure(install), limits);
    const tookMs = now() - startedAt;
    pauseMs = nextWebsiteMs(tookMs);
    const before = measured.get(install.id);
    const isFull = fill > 1;
    measured.set(install.id, { fill, dueAt: now() + measureAgainMs(fill, tookMs), isFull });
    // An earlier process of the host can have left a limit.
    if (!isFull && before?.isFull !== false) {
      await limitWrites(install, null);
      if (before?.isFull) log.info(`the website ${install.name} takes files again`);
    }
    if (!isFull || before?.isFull) return;
    log.warn(
      `Disk quota exceeded: the website ${install.name} can store no files above ${FULL_WRITE_BYTES / 1024} KiB until files are deleted`,
    );
    await whileIdle(install.id, () => limitWrites(install, FULL_WRITE_BYTES));
  }

  async function check(): Promise<void> {
    if (!hasLimits(limits)) return;
    const present = installs();
    const ids = new Set(present.map(({ id }) => id));
    for (const id of measured.keys()) if (!ids.has(id)) measured.delete(id);
    await limitFull(present);
    const install = nextDue(present);
    if (install === undefined) return;
    try {
      await measureOne(install);
    } catch (error) {
      // The others must not wait for this one.
      const known = measured.get(install.id) ?? { fill: 0, isFull: false };
      measured.set(install.id, { ...known, dueAt: now() + measureAgainMs(0, 0) });
      // Its home can have been removed meanwhile.
      if (installs().some(({ id }) => id === install.id)) throw error;
    }
  }

  return {
    check,
    isFull: (installId) => measured.get(installId)?.isFull ?? false,
    start() {
      repetition ??= repeatEvery(check, {
        delayMs: () => pauseMs,
        onError: (err) => log.warn({ err }, 'could not measure a website'),
      });
    },
    async stop() {
      await repetition?.stop();
    },
  };
}
