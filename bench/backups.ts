import { createCipheriv, createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NO_LIMITS } from '../src/hosting/contract/install-limits.ts';
import { createSnapshots } from '../src/hosting/embedded/snapshots/snapshots.ts';
import { STORE_NICENESS } from '../src/hosting/embedded/snapshots/store/store-priority.ts';
import { requirePackagedFiles } from '../src/hosting/wordpress/packaged-files.ts';
import { systemClock } from '../src/lib/clock.ts';
import { runCommand } from '../src/lib/run-command.ts';
import { processorMs } from '../test/processor-time.ts';
import { temporaryFolder } from './measure/processes.ts';
import { createReport, REPORT_OPTIONS } from './measure/report.ts';
import { median, timed } from './measure/units.ts';

/**
 * `npm run bench:embedded -- backups [--mb=260] [--rounds=3]`: processor time and time of backups of the embedded host beside restic, which
 * backs up the same website: the packaged WordPress and pictures. The second backup has one picture more. Both take turns to be the first,
 * and have the same priority. Needs Debian's `restic`. Linux only.
 *
 * Nothing is deleted before the end: for minutes, ext4 searches around inodes that were deleted before it makes new ones, which took most of
 * the time of restores.
 */
const RESTIC = '/usr/bin/restic';
const INSTALL = { id: crypto.randomUUID(), name: 'shop' };
/** Sizes of pictures, in thousand bytes. */
const SIZES = [12, 24, 48, 90, 180, 400, 1_200];
const ADDED_BYTES = 1_000_000;
const GOAL = { atMost: 1.5 };
const MOST_MS = 120_000;

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '260' },
    rounds: { type: 'string', default: '3' },
    ...REPORT_OPTIONS,
  },
});
const folder = temporaryFolder();
const site = join(folder.path, 'sites', INSTALL.id);

/** Milliseconds. */
interface Cost {
  processor: number;
  time: number;
}

/** Of one round, and the bytes that the second backup has added. */
interface Costs {
  first: Cost;
  second: Cost;
  restore: Cost;
  added: number;
}

function fillWebsite(): void {
  cpSync(requirePackagedFiles().wordpress, site, { recursive: true });
  const uploads = join(site, 'wp-content', 'uploads');
  mkdirSync(uploads, { recursive: true });
  let left = Number(values.mb) * 1_000_000 - bytesIn(site);
  for (let n = 0; left > 0; n++) {
    const size = (SIZES[n % SIZES.length] ?? 0) * 1_000;
    writeFileSync(join(uploads, `${n}.jpg`), noise(`picture ${n}`, size));
    left -= size;
  }
}

function bytesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function noise(seed: string, bytes: number): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
}

const added = join(site, 'wp-content', 'uploads', 'added.jpg');

/** Of this process with its threads, and of its children. */
async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = childrenMs();
  let processor = 0;
  const time = await timed(async () => {
    processor = await processorMs(work);
  });
  return { processor: processor + childrenMs() - before, time };
}

async function costsOfHomeport(round: number): Promise<Costs> {
  const place = join(folder.path, `homeport-${round}`);
  const copy = { id: crypto.randomUUID(), name: 'copy' };
  const snapshots = createSnapshots({
    folder: place,
    filesOf: (id) => join(folder.path, 'sites', id),
    limits: NO_LIMITS,
    clock: systemClock,
  });
  const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];
  const first = await costOf(() => snapshots.snapshot(INSTALL, one));
  const before = bytesIn(place);
  writeFileSync(added, noise(`added ${round}`, ADDED_BYTES));
  const second = await costOf(() => snapshots.snapshot(INSTALL, two));
  const after = bytesIn(place);
  const restore = await costOf(() => snapshots.restore(copy, two, { from: INSTALL }));
  rmSync(added);
  return { first, second, restore, added: after - before };
}

async function costsOfRestic(round: number): Promise<Costs> {
  const place = join(folder.path, `restic-${round}`);
  const environment = {
    RESTIC_REPOSITORY: join(place, 'repository'),
    RESTIC_PASSWORD: 'a-password-for-the-bench-only',
    RESTIC_CACHE_DIR: join(place, 'cache'),
  };
  const run = (...args: string[]): Promise<Cost> =>
    costOf(() =>
      runCommand('nice', ['-n', String(STORE_NICENESS), RESTIC, ...args], {
        environment,
        timeoutMs: MOST_MS,
      }),
    );
  await run('init', '--quiet');
  const first = await run('backup', '--quiet', site);
  const before = bytesIn(environment.RESTIC_REPOSITORY);
  writeFileSync(added, noise(`added ${round}`, ADDED_BYTES));
  const second = await run('backup', '--quiet', site);
  const after = bytesIn(environment.RESTIC_REPOSITORY);
  const restore = await run('restore', '--quiet', 'latest', '--target', join(place, 'restored'));
  rmSync(added);
  return { first, second, restore, added: after - before };
}

/** Processor time of ended child processes, to 10 ms: fields 16 and 17 of proc(5) stat. */
function childrenMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

async function measure(): Promise<void> {
  fillWebsite();
  const rounds: { homeport: Costs; restic: Costs }[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const isFirst = round % 2 === 0;
    const homeport = isFirst ? await costsOfHomeport(round) : null;
    const restic = await costsOfRestic(round);
    rounds.push({ restic, homeport: homeport ?? (await costsOfHomeport(round)) });
  }
  const report = createReport('backups');
  const names = { first: 'first backup', second: 'backup with one file more', restore: 'restore' } as const;
  report.part(`Backups of ${values.mb} MB, beside restic`);
  for (const kind of ['processor', 'time'] as const) {
    for (const part of ['first', 'second', 'restore'] as const) {
      report.figure({
        what: `${names[part]}, ${kind === 'time' ? 'time' : 'processor time'}`,
        value: median(rounds.map(({ homeport, restic }) => homeport[part][kind] / restic[part][kind])),
        unit: 'ratio',
        measured: `${Math.round(median(rounds.map(({ homeport }) => homeport[part][kind])))} ms`,
        beside: `${Math.round(median(rounds.map(({ restic }) => restic[part][kind])))} ms`,
        goal: GOAL,
      });
    }
  }
  report.figure({
    what: 'stored for a file of 1 MB',
    value: median(rounds.map(({ homeport, restic }) => homeport.added / restic.added)),
    unit: 'ratio',
    measured: `${Math.round(median(rounds.map(({ homeport }) => homeport.added)) / 1_000)} kB`,
    beside: `${Math.round(median(rounds.map(({ restic }) => restic.added)) / 1_000)} kB`,
    goal: GOAL,
  });
  report.end();
  report.finish();
}

// As the server does.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/homeport'));
try {
  if (existsSync(RESTIC)) await measure();
  else process.stdout.write('backups needs restic: skipped\n');
} finally {
  folder.remove();
}
