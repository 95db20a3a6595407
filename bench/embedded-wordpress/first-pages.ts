import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '../measure/report.ts';
import { median } from '../measure/units.ts';
import { phpProcesses, untilCalm } from './php-processes.ts';
import type { Platform } from './platform.ts';

const CREATIONS = 5;
const COLD = 2;
const CALM_MS = 2_000;

/** From `POST /installs` to the first page of WordPress. */
export async function measureFirstPages(platform: Platform, report: Report): Promise<void> {
  report.part('POST /installs to the first page of WordPress');
  const { pid } = platform;
  // The first website waits for WordPress itself.
  await platform.create('first');
  await untilCalm(pid);
  const warm: number[] = [];
  for (let number = 1; number <= CREATIONS; number++) {
    warm.push(await platform.create(`warm${number}`));
    await untilCalm(pid);
  }
  const cold: number[] = [];
  for (let number = 1; number <= COLD; number++) {
    for (const { id } of phpProcesses(pid)) process.kill(id, 'SIGKILL');
    await sleep(CALM_MS);
    cold.push(await platform.create(`cold${number}`));
    await untilCalm(pid);
  }
  const all = (times: number[]) => times.map((ms) => Math.round(ms)).join(', ');
  report.figure({
    what: 'with a warmed spare',
    value: median(warm),
    unit: 'ms',
    measured: all(warm),
    goal: { atMost: 1_500 },
  });
  report.figure({
    what: 'without a spare',
    value: median(cold),
    unit: 'ms',
    measured: all(cold),
    goal: { atMost: 5_000 },
  });
  report.end();
}
