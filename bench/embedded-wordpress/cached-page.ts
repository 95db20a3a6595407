import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../measure/load.ts';
import type { Report } from '../measure/report.ts';
import { median } from '../measure/units.ts';
import type { Platform } from './platform.ts';

const SITE = 'cached';
const PAIRS = 7;

/** A cached page beside a static file. The median of pairs, each in another order, because the load of the machine changes. */
export async function measureCachedPage(platform: Platform, report: Report): Promise<void> {
  report.part('A cached page beside a static file of the same bytes, through the same edge');
  await platform.ensure(SITE);
  const { body } = await platform.visit(SITE, '/');
  const file = '/wp-content/uploads/page.html';
  writeFileSync(join(platform.filesOf(SITE), file), body);
  const load = (path: string) => ({
    origin: platform.edgeOrigin,
    next: () => ({ method: 'GET' as const, path, headers: { host: platform.hostOf(SITE) } }),
    expect: 200,
    connections: 8,
    cpuMs: platform.cpuMs,
  });
  const costs: number[] = [];
  const rates: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const paths = pair % 2 === 0 ? ['/', file] : [file, '/'];
    const results = [];
    for (const path of paths) results.push(await run(load(path), 2));
    const [page, plain] = pair % 2 === 0 ? results : results.toReversed();
    if (page === undefined || plain === undefined) throw new Error('nothing was measured');
    costs.push(page.cpuMicros / plain.cpuMicros);
    rates.push(plain.perSecond / page.perSecond);
  }
  const shownAll = (ratios: number[]) => ratios.map((ratio) => ratio.toFixed(2)).join(', ');
  report.figure({
    what: 'processor time',
    value: median(costs),
    unit: 'ratio',
    measured: shownAll(costs),
    goal: { atMost: 1.1 },
  });
  report.figure({ what: 'time', value: median(rates), unit: 'ratio', measured: shownAll(rates) });
  report.end();
}
