import type { Report } from '../measure/report.ts';
import { median } from '../measure/units.ts';
import { untilCalm } from './php-processes.ts';
import type { Platform } from './platform.ts';

const AT_ONCE = 12;
const ALONE = 3;

/** Many new installs of WordPress at the same moment, beside single ones. */
export async function measureAtOnce(platform: Platform, report: Report): Promise<void> {
  report.part(`${AT_ONCE} installs of WordPress at once`);
  const { pid } = platform;
  await platform.ensure('first');
  await untilCalm(pid);
  const alone: number[] = [];
  for (let number = 1; number <= ALONE; number++) {
    alone.push(await costOf(() => platform.createWithoutLooks(`alone${number}`)));
    await untilCalm(pid);
  }
  const before = platform.residentMb();
  const times: number[] = [];
  const together = await costOf(async () => {
    const names = Array.from({ length: AT_ONCE }, (_, index) => `together${index + 1}`);
    times.push(...(await Promise.all(names.map((name) => platform.createWithoutLooks(name)))));
  });
  report.figure({
    what: 'processor time of the server for each, beside one alone',
    value: together / AT_ONCE / median(alone),
    unit: 'ratio',
    measured: `${Math.round(together / AT_ONCE)} ms`,
    beside: `${Math.round(median(alone))} ms`,
    goal: { atMost: 1.5 },
  });
  report.figure({
    what: 'the last first page, beside the median',
    value: Math.max(...times) / median(times),
    unit: 'ratio',
    measured: `${Math.round(Math.max(...times))} ms`,
    beside: `${Math.round(median(times))} ms`,
    goal: { atMost: 2.5 },
  });
  report.figure({
    what: 'memory of the server for each',
    value: (platform.residentMb() - before) / AT_ONCE,
    unit: 'MB',
    goal: { atMost: 8 },
  });
  report.end();

  async function costOf(work: () => Promise<unknown>): Promise<number> {
    const began = platform.cpuMs();
    await work();
    return platform.cpuMs() - began;
  }
}
