import { progress, type Run } from '../measure/report.ts';
import { median, shownMs } from '../measure/units.ts';
import { withBenchHost } from './bench-host.ts';
import { withControlPlane } from './control-plane.ts';
import { createInstall, type Made } from './first-page.ts';

const GOAL_MS = 2_000;
/** Frequent enough to catch the moment, and rare enough not to affect the measurement. */
const LOOK_MS = 10;
const LOOK_AT_MANY_MS = 40;

/** From POST /installs to WordPress's first home page, with the steps in between. */
export async function benchProvisioning({ report, quick }: Run): Promise<void> {
  const count = quick ? 3 : 10;
  progress('starting a host and a control plane');
  const { alone, together } = await withBenchHost((host) =>
    withControlPlane(host, async (api) => {
      const one: Made[] = [];
      for (let n = 1; n <= count; n++) {
        progress(`install ${n} of ${count}, one by one`);
        one.push(await createInstall(host, api, `bench-alone-${n}`, LOOK_MS));
      }
      progress(`${count} installs at once`);
      const names = Array.from({ length: count }, (_, n) => `bench-together-${n + 1}`);
      const many = await Promise.all(names.map((name) => createInstall(host, api, name, LOOK_AT_MANY_MS)));
      return { alone: one, together: many };
    }),
  );

  const row = (what: string, ms: number) =>
    report.figure({ what, value: ms, unit: 'ms', goal: { atMost: GOAL_MS } });
  const pages = (made: Made[]) => made.map(({ firstPage }) => firstPage).toSorted((a, b) => a - b);
  const warm = alone.slice(1);
  report.part('1. POST /installs to the first 200 of WordPress');
  row('install 1, alone', alone[0]?.firstPage ?? 0);
  row(`install ${count}, alone`, alone.at(-1)?.firstPage ?? 0);
  row(`installs 2 to ${count}, one by one: median`, median(pages(warm)));
  row(
    `installs 2 to ${count}, until the API calls them active: median`,
    median(warm.map(({ active }) => active)),
  );
  for (const [what, ms] of [
    [`${count} at once: the first`, pages(together)[0]],
    [`${count} at once: median`, median(pages(together))],
    [`${count} at once: the last`, pages(together).at(-1)],
  ] as const) {
    report.figure({ what, value: ms ?? 0, unit: 'ms' });
  }
  report.grid(
    ['WHERE THE TIME GOES', `ONE BY ONE`, 'SINCE BEFORE', `${count} AT ONCE`],
    steps(warm, together),
  );
  report.note(
    'Medians in milliseconds since the POST. Steps of one stage run in parallel, so a step may have begun earlier.',
  );
  report.end();
}

/** The milestones, in their order for an install created alone. */
function steps(alone: Made[], together: Made[]): string[][] {
  const names = alone[0] === undefined ? [] : [...alone[0].steps.keys()];
  const moments: [string, (made: Made) => number][] = [
    ['the API has answered', ({ answered }) => answered],
    ...names.map((name): [string, (made: Made) => number] => [
      `host: ${name}`,
      ({ steps: done }) => done.get(name) ?? 0,
    ]),
    ['first page seen', ({ firstPage }) => firstPage],
    ['seen as active', ({ active }) => active],
  ];
  const timed = moments
    .map(([name, at]) => ({ name, one: median(alone.map(at)), many: median(together.map(at)) }))
    .toSorted((a, b) => a.one - b.one);
  return timed.map(({ name, one, many }, index) => [
    name,
    shownMs(one),
    shownMs(one - (timed[index - 1]?.one ?? 0)),
    shownMs(many),
  ]);
}
