import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../measure/report.ts';
import { phpProcesses, untilCalm } from './php-processes.ts';
import type { Platform } from './platform.ts';

const SITES = ['rest1', 'rest2'];
const LOOK_MS = 1_000;
/** Longer than the idle time, and than the tasks of WP-Cron that may run meanwhile. */
const PATIENCE_MS = 5 * 60_000;

/** Counts the processes of PHP while websites are in use, and after their idle time. */
export async function measureRest(platform: Platform, report: Report): Promise<void> {
  report.part('Processes of PHP at rest');
  const { pid } = platform;
  const count = () => phpProcesses(pid).length;
  await untilCalm(pid);
  const before = await atRest(count);
  for (const name of SITES) await platform.ensure(name);
  await untilCalm(pid);
  const active = count();
  const after = await atRest(count);
  report.figure({
    what: 'after the idle time',
    value: after,
    unit: 'count',
    measured: `${before} before, ${active} with ${SITES.length} websites in use, ${after} after their idle time`,
    goal: { atMost: 1 },
  });
  const [spare] = phpProcesses(pid);
  if (spare !== undefined) report.figure({ what: 'memory of the spare', value: spare.megabytes, unit: 'MB' });
  report.end();
}

/** Waits until only the spare is left. Returns how many processes there are then. */
async function atRest(count: () => number): Promise<number> {
  const until = performance.now() + PATIENCE_MS;
  while (count() > 1 && performance.now() < until) await sleep(LOOK_MS);
  return count();
}
