import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, shownRate } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';
import { withStaticServer } from './static-server.ts';
import { type Load, type LoadResult, wrk } from './wrk.ts';

const GOAL = 0.8;
const CONNECTIONS = 32;
/** Concurrent requests of one install; more would wait. */
const UNCACHED_CONNECTIONS = 8;
/** The cookie of a commenter, which bypasses the page cache. */
const PERSONAL = { cookie: 'comment_author_bench=1' };

/** Cached and uncached requests for a home page, compared with a plain nginx that serves the same bytes as a file. */
export async function benchRequests({ report, quick }: Run): Promise<void> {
  const rounds = quick ? 1 : 3;
  const seconds = quick ? 2 : 5;
  progress('starting a host');
  const { results, bytes } = await withBenchHost(async (host) => {
    const install = plainState('bench-requests');
    await host.remote.apply(install);
    const page = await cachedPage(host, install.name);
    return withStaticServer(host.machine.folder, page, async (fileServer) => {
      const own = { address: host.machine.config.edgeHttp, hostname: install.primaryHostname, seconds };
      const loads: Load[] = [
        { ...own, connections: CONNECTIONS },
        { ...own, address: fileServer, connections: CONNECTIONS },
        { ...own, connections: UNCACHED_CONNECTIONS, headers: PERSONAL },
      ];
      // The first requests warm up the caches.
      for (const load of loads) await wrk({ ...load, seconds: 1 });
      return { results: await inTurn(loads, rounds), bytes: Buffer.byteLength(page) };
    });
  });

  const [cached = [], file = [], uncached = []] = results;
  // Per round, because the machine's load may differ between rounds.
  const ratio = median(cached.map(({ perSecond }, round) => perSecond / (file[round]?.perSecond ?? 0)));
  report.part(
    `2. Requests a second for a home page of ${bytes.toLocaleString('en')} bytes, HTTP, median of ${rounds}`,
  );
  report.figure({
    what: `cached, ${CONNECTIONS} connections`,
    value: ratio,
    unit: 'ratio',
    measured: shown(cached),
    beside: `plain nginx, the same bytes as a file: ${shown(file)}`,
    goal: { atLeast: GOAL },
  });
  report.figure({
    what: `uncached, ${UNCACHED_CONNECTIONS} connections`,
    value: median(uncached.map(({ perSecond }) => perSecond)),
    unit: '/s',
    measured: shown(uncached),
    beside: 'one install may take one processor',
  });
  report.note('wrk shares the processors with the measured server and measures one server at a time.');
  report.end();
}

function shown(rounds: LoadResult[]): string {
  const of = (what: keyof LoadResult) => median(rounds.map((round) => round[what]));
  return `${shownRate(of('perSecond'))} (p50 ${shownMs(of('p50'))}, p99 ${shownMs(of('p99'))})`;
}

/** The home page, once it is cached. */
async function cachedPage({ visit }: BenchHost, name: string): Promise<string> {
  await visit(name);
  const { status, headers, body } = await visit(name);
  if (status !== 200 || headers['x-cache'] !== 'HIT') {
    throw new Error(`the home page is not cached: ${status}, ${headers['x-cache']}`);
  }
  const personal = await visit(name, PERSONAL);
  if (personal.headers['x-cache'] !== 'BYPASS') throw new Error('a commenter gets a cached page');
  return body;
}

/** Runs all loads in several rounds, so that all see the same machine load. Returns each load's result for each round. */
async function inTurn(loads: Load[], rounds: number): Promise<LoadResult[][]> {
  const results: LoadResult[][] = loads.map(() => []);
  for (let round = 1; round <= rounds; round++) {
    progress(`load, round ${round} of ${rounds}`);
    for (const [index, load] of loads.entries()) results[index]?.push(await wrk(load));
  }
  return results;
}
