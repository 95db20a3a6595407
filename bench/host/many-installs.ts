import { shownBytes } from '../../src/cli/terminal/output.ts';
import { mapConcurrent } from '../../src/lib/concurrency.ts';
import { plainState } from '../../test/host/state.ts';
import { progress, type Run } from '../measure/report.ts';
import { median, shownMs, timed } from '../measure/units.ts';
import { type BenchHost, withBenchHost } from './bench-host.ts';
import { diskOf, type Memory, memoryOf, untilIdle } from './footprint.ts';

const AT_ONCE = 10;
const REPEATED = 3;

/** Resources of a machine with that many complete installs. */
interface Whole {
  count: number;
  change: number;
  memory: Memory;
  /** Total of all installs, in bytes. */
  disk: number;
}

/** nginx, memory and disk with few installs and with many. */
export async function benchManyInstalls({ report, quick }: Run): Promise<void> {
  const counts = quick ? [3, 10] : [10, 100];
  progress('starting a host');
  const { wholes, madeIn } = await withBenchHost((host) => makeWholes(host, counts));
  const largest = wholes.at(-1);
  if (largest === undefined) return;

  report.part('4. Few installs and many: nginx, memory at rest, disk');
  report.grid(
    ['INSTALLS', 'CHANGE UNTIL SERVED', 'nginx', 'PHP', 'REDIS', 'MARIADB', 'DISK'],
    wholes.map(rowOfWhole),
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
  report.note('Memory is PSS. Change until served: one more host name for an install, median of 3.');
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
  // An uncounted one, because a counted one's website is requested again as soon as it changes.
  const probe = plainState(`bench-probe-${count}`);
  await host.remote.apply(probe);
  const [name] = probe.hostnames;
  if (name === undefined) throw new Error('an install without a name');
  const changes: number[] = [];
  for (let n = 1; n <= REPEATED; n++) {
    const hostnames = [name, { ...name, name: `more-${n}.${name.name}` }];
    changes.push(await timed(() => host.remote.apply({ ...probe, hostnames })));
  }
  await host.remote.remove(probe);
  return { count, change: median(changes), memory, disk };
}

/** Additional memory of nginx and MariaDB per install; null if there were too few installs. */
function growthOf(wholes: Whole[]): number | null {
  const [few, many] = [wholes[0], wholes.at(-1)];
  if (few === undefined || many === undefined || few === many) return null;
  const shared = ({ memory }: Whole) => memory.nginx + memory.mariadb;
  return Math.max(0, (shared(many) - shared(few)) / (many.count - few.count));
}

function rowOfWhole({ count, change, memory, disk }: Whole): string[] {
  const { nginx, php, redis, mariadb } = memory;
  return [String(count), shownMs(change), ...[nginx, php, redis, mariadb, disk].map(shownBytes)];
}
