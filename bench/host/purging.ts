import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, timed } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';
import { type Api, withControlPlane } from './control-plane.ts';
import { createInstall } from './first-page.ts';

const PATIENCE_MS = 10_000;

/** How one purge went, in milliseconds since its POST was sent. */
interface Purged {
  answered: number;
  /** The last visitor who was shown the old page had it. */
  lastOld: number;
  /** The first visitor had the page that was made anew. */
  firstNew: number;
}

/** From a purge asked for by the API to the first page that is made anew. */
export async function benchPurging({ report, quick }: Run): Promise<void> {
  const count = quick ? 5 : 30;
  progress('starting a host and a control plane');
  const { purges, uncached } = await withBenchHost((host) =>
    withControlPlane(host, async (api) => {
      const { id, name } = await createInstall(host, api, 'bench-purge', 20);
      progress(`${count} purges`);
      const done: Purged[] = [];
      for (let n = 0; n < count; n++) done.push(await purge(host, api, { id, name }));
      const personal = { cookie: 'comment_author_bench=1' };
      const pages: number[] = [];
      for (let n = 0; n < 5; n++) pages.push(await timed(() => host.visit(name, personal)));
      return { purges: done, uncached: median(pages) };
    }),
  );

  const of = (moment: keyof Purged) => purges.map((one) => one[moment]).toSorted((a, b) => a - b);
  const row = (what: string, times: number[]) =>
    report.figure({
      what,
      value: median(times),
      unit: 'ms',
      measured: `at most ${shownMs(times.at(-1) ?? 0)}`,
    });
  report.part(`3. Purge of the page cache, from the POST of it, ${count} times, median`);
  row('the API has answered 202', of('answered'));
  row('the last old page was shown', of('lastOld'));
  row('the first MISS was shown, made anew by PHP', of('firstNew'));
  report.figure({ what: 'for comparison: an uncached page', value: uncached, unit: 'ms' });
  report.end();
}

async function purge(
  { visit }: BenchHost,
  api: Api,
  { id, name }: { id: string; name: string },
): Promise<Purged> {
  await visit(name);
  const cacheState = async () => (await visit(name)).headers['x-cache'];
  if ((await cacheState()) !== 'HIT') throw new Error('the page is not cached before the purge');
  const began = performance.now();
  const since = () => performance.now() - began;
  const answering = api.call('POST', `/installs/${id}/purge_cache`, { type: 'page' }).then(since);
  answering.catch(() => {});
  let lastOld = 0;
  while ((await cacheState()) !== 'MISS') {
    lastOld = since();
    if (lastOld > PATIENCE_MS) throw new Error(`the page was not purged within ${PATIENCE_MS / 1000} s`);
  }
  const firstNew = since();
  const answered = await answering;
  return { answered, lastOld, firstNew };
}
