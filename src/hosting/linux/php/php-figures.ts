import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { HostFigures } from '../../contract/figures.ts';
import type { DaemonStatus, Daemons } from '../machine/daemon.ts';

type PhpFigures = NonNullable<HostFigures['php']>;

/** systemd describes all units in one call, whose time grows with their number. */
const LIST_EVERY_MS = MINUTE_MS;
const SS = '/usr/bin/ss';
/** A scrape of the metrics waits little longer for the whole host. */
const WITHIN_MS = 2_000;

/**
 * Measures the PHP of all websites. The list of daemons is at most a minute old, or older while systemd does not answer. Requests that wait
 * are counted now.
 */
export function createPhpFigures(parts: {
  daemons: Pick<Daemons, 'list'>;
  /** Folder of the sockets that PHP listens on. */
  sockets: string;
  clock: Clock;
  /** The kernel's list of listening Unix sockets. Tests replace it. */
  listening?: () => Promise<string>;
  /** How long a reader waits for systemd, which answers no one while it reloads its units. Tests replace it. */
  withinMs?: number;
}): () => Promise<PhpFigures> {
  const { daemons, sockets, clock, listening = listeningSockets, withinMs = WITHIN_MS } = parts;
  /** Restarts of each daemon when it was last seen: those of systemd begin again with each requested start. */
  const seen = new Map<string, number>();
  let restarts = 0;
  let isFirst = true;
  let kept: { atMs: number; php: DaemonStatus[] } | null = null;
  let listing: Promise<DaemonStatus[]> | null = null;

  /** Null if systemd is late. The next reader waits for the same answer, so that slow ones do not pile up. */
  async function listed(): Promise<DaemonStatus[] | null> {
    listing ??= daemons.list().finally(() => {
      listing = null;
    });
    const answered = new AbortController();
    const late = pause(withinMs, null, { signal: answered.signal, ref: false }).catch(() => null);
    return Promise.race([listing, late]).finally(() => answered.abort());
  }

  async function present(): Promise<DaemonStatus[]> {
    const now = clock.now().getTime();
    if (kept !== null && Math.abs(now - kept.atMs) < LIST_EVERY_MS) return kept.php;
    const all = await listed();
    if (all === null && kept !== null) return kept.php;
    if (all === null) throw new Error(`systemd has not listed the daemons within ${withinMs / 1000} s`);
    const php = all.filter(({ name }) => name.startsWith('php-'));
    for (const daemon of php) countRestarts(daemon);
    const names = new Set(php.map(({ name }) => name));
    for (const name of seen.keys()) if (!names.has(name)) seen.delete(name);
    isFirst = false;
    kept = { atMs: now, php };
    return php;
  }

  /** Those from before this process do not count. */
  function countRestarts({ name, restarts: present }: DaemonStatus): void {
    const before = seen.get(name) ?? (isFirst ? present : 0);
    restarts += present >= before ? present - before : present;
    seen.set(name, present);
  }

  return async () => {
    const [php, waiting] = await Promise.all([
      present(),
      listening().then((text) => waitingIn(text, sockets)),
    ]);
    const known = php.flatMap(({ memoryBytes }) => memoryBytes ?? []);
    return {
      running: php.filter(({ state }) => state === 'running').length,
      memoryBytes: known.length === 0 && php.length > 0 ? null : known.reduce((sum, one) => sum + one, 0),
      memoryLimitBytes: null,
      restarts,
      waiting,
    };
  };
}

const listeningSockets = async (): Promise<string> =>
  (await runCommand(SS, ['--unix', '--listening', '--no-header'], { timeoutMs: WITHIN_MS })).stdout;

/** The connections that no process of PHP has accepted yet: the third column of `ss`, of the sockets in a folder. */
function waitingIn(text: string, folder: string): number {
  const inFolder = join(folder, '/');
  return text.split('\n').reduce((sum, line) => {
    const [, , queued, , path] = line.trim().split(/\s+/);
    return path?.startsWith(inFolder) ? sum + Number(queued) : sum;
  }, 0);
}
