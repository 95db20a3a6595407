import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  type Dirent,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasCode } from '../../../lib/error-code.ts';
import type { HostedInstall } from '../isolation/hosted-install.ts';
import { type BackupMachine, startBackupMachine } from './backups.fixture.ts';

/** `FUZZ_SEED` looks for other changes. */
const SEED = Number(process.env.FUZZ_SEED ?? 20260101);
const FIRST_CHANGES = 300;
const LATER_CHANGES = 120;

let machine: BackupMachine;
beforeAll(async () => {
  machine = await startBackupMachine();
});
afterAll(() => machine?.stop());

/** Names are bytes. */
const bytes = (path: string): Buffer => Buffer.from(path, 'latin1');

const NAMES = [
  'a',
  'b',
  'new\nline',
  ' space ',
  '-x',
  '--help',
  'gr\xfc\xdfe',
  'q"uo\'te',
  'back\\n',
  '*',
  'd[1]',
];
/** None exists: the test runs as root, and must reach nothing outside of the website. */
const TARGETS = ['nothing', '/nonexistent/nothing', '../../nonexistent/nothing', 'long'.repeat(50)];
/** Before 1970, with fractions, and after the 32 bits of old formats. */
const TIMES = [-5.5, 0, 1_000_000, 1_700_000_000.123, 5_000_000_000];

interface Place {
  /** An entry, and another one. */
  at: string;
  other: string;
  /** A name without an entry. */
  free: string;
}

/** Changes that follow links. */
const OF_TARGETS = new Set(['append', 'truncate', 'mode', 'forge']);

/** What customers and plugins do with files. `n` chooses among values. */
const CHANGES: Record<string, (place: Place, n: number) => void> = {
  write: ({ free }, n) => writeFileSync(bytes(free), `content ${n}`, { flag: 'wx' }),
  folder: ({ free }) => mkdirSync(bytes(free)),
  symlink: ({ free }, n) => symlinkSync(of(TARGETS, n), bytes(free)),
  link: ({ at, free }) => linkSync(bytes(at), bytes(free)),
  remove: ({ at }) => rmSync(bytes(at), { recursive: true }),
  move: ({ at, free }) => renameSync(bytes(at), bytes(free)),
  exchange({ at, other, free }) {
    renameSync(bytes(at), bytes(free));
    renameSync(bytes(other), bytes(at));
    renameSync(bytes(free), bytes(other));
  },
  append: ({ at }) => appendFileSync(bytes(at), 'more'),
  truncate: ({ at }, n) => truncateSync(bytes(at), of([0, 3, 500_000], n)),
  mode({ at }, n) {
    const modes = lstatSync(bytes(at)).isDirectory() ? [0o755, 0o500, 0o2755] : [0o644, 0o400, 0o4755];
    chmodSync(bytes(at), of(modes, n));
  },
  time: ({ at }, n) => lutimesSync(bytes(at), 5, of(TIMES, n)),
  forge({ at }, n) {
    const { atime, mtime } = lstatSync(bytes(at));
    writeFileSync(bytes(at), readFileSync(bytes(at)).fill(65 + (n % 26)));
    utimesSync(bytes(at), atime, mtime);
  },
  retarget({ at }) {
    const { atime, mtime } = lstatSync(bytes(at));
    const target = readlinkSync(bytes(at));
    rmSync(bytes(at));
    symlinkSync(target.toUpperCase(), bytes(at));
    lutimesSync(bytes(at), atime, mtime);
  },
  becomeFolder({ at }) {
    rmSync(bytes(at), { recursive: true });
    mkdirSync(bytes(at));
  },
  becomeFile({ at }) {
    rmSync(bytes(at), { recursive: true });
    writeFileSync(bytes(at), 'was something else', { flag: 'wx' });
  },
};
/** More is created than removed. */
const KINDS = [...Object.keys(CHANGES), 'write', 'write', 'write', 'folder', 'symlink'];

const change = fc.record({
  kind: fc.constantFrom(...KINDS),
  at: fc.nat(),
  other: fc.nat(),
  name: fc.constantFrom(...NAMES),
  n: fc.nat(),
});

const of = <Item>(items: readonly [Item, ...Item[]] | readonly Item[], n: number): Item => {
  const item = items[n % items.length];
  if (item === undefined) throw new Error('an empty list');
  return item;
};

/** Paths below a folder, except its links to the WordPress of the host and the folders above those. */
function pathsIn(folder: string, isTop = true): string[] {
  const entries: Dirent<Buffer>[] = readdirSync(bytes(folder), { withFileTypes: true, encoding: 'buffer' });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name.toString('latin1')}`;
    if (entry.isSymbolicLink() && readlinkSync(bytes(path)).startsWith(machine.layout.cores)) return [];
    if (isTop && entry.name.toString() === 'wp-content') return [];
    return entry.isDirectory() ? [path, ...pathsIn(path, false)] : [path];
  });
}

/** Changes a website, and returns how many changes were possible. */
function changeAtRandom(install: HostedInstall, seed: number, count: number): number {
  const root = machine.inHtdocs(install);
  let done = 0;
  for (const { kind, at, other, name, n } of fc.sample(change, { seed, numRuns: count })) {
    const paths = pathsIn(root);
    const folders = [root, ...paths.filter((path) => lstatSync(bytes(path)).isDirectory())];
    const free = `${of(folders, other)}/${name}${n % 30}`;
    if (existsSync(bytes(free))) continue;
    const present = paths.length === 0 ? [free] : paths;
    try {
      if (OF_TARGETS.has(kind) && lstatSync(bytes(of(present, at))).isSymbolicLink()) continue;
      CHANGES[kind]?.({ at: of(present, at), other: of(present, other), free }, n);
      done += 1;
    } catch (error) {
      // Such as a folder that would be moved into itself.
      if (!hasCode(error, 'ENOENT', 'EEXIST', 'ENOTDIR', 'EINVAL', 'ENOTEMPTY', 'EISDIR', 'EPERM'))
        throw error;
    }
  }
  const { uid, gid } = install.sandbox;
  for (const path of pathsIn(root)) {
    const stats = lstatSync(bytes(path));
    // Changes of the owner end special modes, and are changes.
    if (stats.uid !== uid) lchownSync(bytes(path), uid, gid);
  }
  return done;
}

test.each([SEED, SEED + 1, SEED + 2])(
  'the copy of a website with random changes is the same as its source, seed %i',
  async (seed) => {
    const backups = machine.backupsWith();
    const shop = await machine.newWebsite();
    changeAtRandom(shop, seed, FIRST_CHANGES);
    // So that the times of the files have settled.
    await sleep(2_100);
    const [base, last] = [randomUUID(), randomUUID()];
    await backups.copies.snapshotBase(shop, base);
    expect(changeAtRandom(shop, -seed, LATER_CHANGES)).toBeGreaterThan(LATER_CHANGES / 4);
    await backups.copies.snapshotChanges(shop, last, base);
    const source = machine.filesOf(shop);

    await backups.copies.stage(shop, base);
    for (const path of pathsIn(machine.inHtdocs(shop))) rmSync(bytes(path), { recursive: true, force: true });
    await backups.copies.restoreChanges(shop, last, base);
    expect(machine.filesOf(shop)).toBe(source);
  },
);
