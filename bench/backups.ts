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
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { NO_LIMITS } from '../src/hosting/contract/install-limits.ts';
import { createSnapshots } from '../src/hosting/embedded/snapshots/snapshots.ts';
import { requirePackagedFiles } from '../src/hosting/wordpress/packaged-files.ts';
import { systemClock } from '../src/lib/clock.ts';
import { runCommand } from '../src/lib/run-command.ts';
import { processorMs } from '../test/processor-time.ts';
import { temporaryFolder } from './measure/processes.ts';
import { createReport, REPORT_OPTIONS } from './measure/report.ts';
import { median } from './measure/units.ts';

/**
 * `npm run bench:embedded -- backups [--mb=260] [--rounds=3]`: processor time of backups of the embedded host beside restic, which backs up
 * the same website: the packaged WordPress and pictures. The second backup has one picture more. Needs Debian's `restic`. Linux only.
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

/** Processor time of both in milliseconds, and the bytes that the second backup has added. */
interface Costs {
  first: number;
  second: number;
  restore: number;
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

async function costsOfHomeport(round: number): Promise<Costs> {
  const place = join(folder.path, 'homeport');
  const snapshots = createSnapshots({
    folder: place,
    filesOf: (id) => join(folder.path, 'sites', id),
    limits: NO_LIMITS,
    clock: systemClock,
  });
  const copy = { id: crypto.randomUUID(), name: 'copy' };
  const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];
  const first = await processorMs(() => snapshots.snapshot(INSTALL, one));
  const before = bytesIn(place);
  writeFileSync(added, noise(`added ${round}`, ADDED_BYTES));
  const second = await processorMs(() => snapshots.snapshot(INSTALL, two));
  const after = bytesIn(place);
  const restore = await processorMs(() => snapshots.restore(copy, two, { from: INSTALL }));
  rmSync(added);
  rmSync(join(folder.path, 'sites', copy.id), { recursive: true });
  rmSync(place, { recursive: true });
  return { first, second, restore, added: after - before };
}

async function costsOfRestic(round: number): Promise<Costs> {
  const place = join(folder.path, 'restic');
  const environment = {
    RESTIC_REPOSITORY: join(place, 'repository'),
    RESTIC_PASSWORD: 'a-password-for-the-bench-only',
    RESTIC_CACHE_DIR: join(place, 'cache'),
  };
  const run = async (...args: string[]): Promise<number> => {
    const before = childrenMs();
    await runCommand(RESTIC, args, { environment, timeoutMs: MOST_MS });
    return childrenMs() - before;
  };
  await run('init', '--quiet');
  const first = await run('backup', '--quiet', site);
  const before = bytesIn(environment.RESTIC_REPOSITORY);
  writeFileSync(added, noise(`added ${round}`, ADDED_BYTES));
  const second = await run('backup', '--quiet', site);
  const after = bytesIn(environment.RESTIC_REPOSITORY);
  const restore = await run('restore', '--quiet', 'latest', '--target', join(place, 'restored'));
  rmSync(added);
  rmSync(place, { recursive: true });
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
    rounds.push({ restic: await costsOfRestic(round), homeport: await costsOfHomeport(round) });
  }
  const report = createReport('backups');
  report.part(`Backups of ${values.mb} MB, processor time beside restic`);
  const names = { first: 'first backup', second: 'backup with one file more', restore: 'restore' } as const;
  for (const part of ['first', 'second', 'restore'] as const) {
    report.figure({
      what: names[part],
      value: median(rounds.map(({ homeport, restic }) => homeport[part] / restic[part])),
      unit: 'ratio',
      measured: `${Math.round(median(rounds.map(({ homeport }) => homeport[part])))} ms`,
      beside: `${Math.round(median(rounds.map(({ restic }) => restic[part])))} ms`,
      goal: GOAL,
    });
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

try {
  if (existsSync(RESTIC)) await measure();
  else process.stdout.write('backups needs restic: skipped\n');
} finally {
  folder.remove();
}
