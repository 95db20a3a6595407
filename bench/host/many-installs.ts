import { join } from 'node:path';
import { shownBytes } from '../../src/cli/terminal/output.ts';
import { mapConcurrent } from '../../src/lib/concurrency.ts';
import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, timed } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';
import { diskOf, type Memory, memoryOf, untilIdle } from './footprint.ts';
import { timeTest } from './nginx-test.ts';
import { measureVhosts, type VhostCosts, withVhosts } from './vhosts.ts';

const AT_ONCE = 10;
const REPEATED = 3;

/** What a machine with so many whole installs takes. */
interface Whole {
  count: number;
  test: number;
  change: number;
  memory: Memory;
  /** Of all installs together, in bytes. */
  disk: number;
}

/** nginx, memory and disk with few installs and with many. */
export async function benchManyInstalls({ report, quick }: Run): Promise<void> {
  const counts = quick ? [3, 10] : [10, 100];
  const vhostCounts = quick ? [10, 100] : [10, 100, 1_000];
  progress('starting a host');
  const { wholes, madeIn } = await withBenchHost((host) => makeWholes(host, counts));
  progress('starting an nginx with vhosts alone');
  const vhosts = await withVhosts(async (server) => {
    const costs: VhostCosts[] = [];
    for (const count of vhostCounts) {
      progress(`${count} vhosts`);
      costs.push(await measureVhosts(server, count));
    }
    return costs;
  });
  const largest = wholes.at(-1);
  if (largest === undefined) return;

  report.part('4. Few installs and many: nginx, memory at rest, disk');
  report.grid(
    ['INSTALLS', 'MADE OF', 'nginx -t', 'CHANGE UNTIL SERVED', 'nginx', 'PHP', 'REDIS', 'MARIADB', 'DISK'],
    [...wholes.map(rowOfWhole), ...vhosts.map((costs) => rowOfVhosts(costs, largest))],
  );
  const { count, memory, disk } = largest;
  const growth = growthOf(wholes);
  report.grid(
    ['ONE INSTALL COSTS', 'OF ALL BY THEIR NUMBER'],
    [
      ['memory of its PHP at rest', shownBytes(memory.php / count)],
      ['memory of its Redis', shownBytes(memory.redis / count)],
      ...(growth === null ? [] : [['memory that nginx and MariaDB take more', shownBytes(growth)]]),
      ['disk: files, database, cached page, records', shownBytes(disk / count)],
      [`time to make it, ${AT_ONCE} at once`, shownMs(madeIn / count)],
    ],
  );
  report.note(
    `Memory is PSS. "Vhosts alone": nginx is real, and what else so many installs take is reckoned (≈) from one of ${count}.`,
  );
  report.note(
    'A change until served: a host name more for one install, through nginx -t and the reload, median of 3.',
  );
  report.end();
}

async function makeWholes(host: BenchHost, counts: number[]): Promise<{ wholes: Whole[]; madeIn: number }> {
  const wholes: Whole[] = [];
  let made = 0;
  let madeIn = 0;
  for (const count of counts) {
    progress(`${count} whole installs`);
    const names = Array.from({ length: count - made }, (_, n) => `bench-many-${made + n + 1}`);
    madeIn += await timed(() => mapConcurrent(names, AT_ONCE, (name) => host.remote.apply(plainState(name))));
    made = count;
    wholes.push(await measureWhole(host, count));
  }
  return { wholes, madeIn };
}

async function measureWhole(host: BenchHost, count: number): Promise<Whole> {
  progress(`${count} whole installs: waiting until their PHP is at rest`);
  await untilIdle(host.machine);
  const [memory, disk] = [await memoryOf(host.machine), await diskOf(host.layout)];
  // One that was not counted, for the website of one that was is asked for again as soon as it changes.
  const probe = plainState(`bench-probe-${count}`);
  await host.remote.apply(probe);
  const [name] = probe.hostnames;
  if (name === undefined) throw new Error('an install without a name');
  const changes: number[] = [];
  for (let n = 1; n <= REPEATED; n++) {
    const hostnames = [name, { ...name, name: `more-${n}.${name.name}` }];
    changes.push(await timed(() => host.remote.apply({ ...probe, hostnames })));
  }
  const test = await timeTest(join(host.layout.nginx, 'current', 'nginx.conf'));
  await host.remote.remove(probe);
  return { count, test, change: median(changes), memory, disk };
}

/** What nginx and MariaDB take more for each install; null where too few were made to tell. */
function growthOf(wholes: Whole[]): number | null {
  const [few, many] = [wholes[0], wholes.at(-1)];
  if (few === undefined || many === undefined || few === many) return null;
  const shared = ({ memory }: Whole) => memory.nginx + memory.mariadb;
  return Math.max(0, (shared(many) - shared(few)) / (many.count - few.count));
}

function rowOfWhole({ count, test, change, memory, disk }: Whole): string[] {
  const { nginx, php, redis, mariadb } = memory;
  const sizes = [nginx, php, redis, mariadb, disk].map(shownBytes);
  return [String(count), 'whole installs', shownMs(test), shownMs(change), ...sizes];
}

function rowOfVhosts(
  { count, test, change, nginx }: VhostCosts,
  { count: of, memory, disk }: Whole,
): string[] {
  const reckoned = (bytes: number) => `≈ ${shownBytes((bytes / of) * count)}`;
  return [
    count.toLocaleString('en'),
    'vhosts alone',
    shownMs(test),
    shownMs(change),
    shownBytes(nginx),
    reckoned(memory.php),
    reckoned(memory.redis),
    '',
    reckoned(disk),
  ];
}
