import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeTree } from './archive-exchange.ts';
import { returnBackups } from './returned-backups.ts';
import { makeSnapshotPlace, type SnapshotPlace } from './snapshots.fixture.ts';
import { chunksIn, markOf, readPackList } from './store/pack-file.ts';

const PAGE = randomBytes(5_000);

let here: SnapshotPlace;
/** The only pack of the only backup. */
let pack: string;
beforeEach(async () => {
  here = makeSnapshotPlace();
  here.put('page.html', PAGE);
  await here.snapshots.snapshot(here.install, here.backupId);
  pack = here.packs()[0] ?? '';
});
afterEach(() => removeTree(here.base));

const elsewhere = () => join(here.base, 'elsewhere');
const copyElsewhere = () => fs.cpSync(here.backups, elsewhere(), { recursive: true });

function damagePage(): void {
  const list = readPackList(dirname(pack), basename(pack));
  const chunk = [...chunksIn(list)].find(({ length }) => length === PAGE.length);
  const bytes = fs.readFileSync(pack);
  const at = (chunk?.offset ?? 0) + 8;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  fs.writeFileSync(pack, bytes);
}

/** Returns backups from the copy of their folder. */
function returnThem(wanted: string[], isRefused = (_path: string) => false): Promise<string[]> {
  const found = fs.readdirSync(elsewhere(), { recursive: true, encoding: 'utf8' });
  const paths = new Set(found.sort().filter((path) => fs.statSync(join(elsewhere(), path)).isFile()));
  const fetch = async (path: string, to: string) => {
    if (isRefused(path)) throw new Error('the storage failed');
    fs.copyFileSync(join(elsewhere(), path), to);
  };
  const scratch = fs.mkdtempSync(join(here.base, 'scratch-'));
  return returnBackups(join(here.base, 'backups'), here.install.id, wanted, { paths, fetch }, scratch);
}

async function expectPage(backupId: string): Promise<void> {
  here.wreck();
  await here.snapshots.restore(here.install, backupId);
  expect(fs.readFileSync(join(here.site, 'page.html'))).toEqual(PAGE);
}

test('no later backup relies on a pack that has the same damage in the place from which it returns', async () => {
  damagePage();
  copyElsewhere();
  // Reading it finds the damage.
  await expect(here.snapshots.restore(here.install, here.backupId)).rejects.toThrow('is damaged');
  fs.rmSync(here.manifestPath());
  expect(await returnThem([here.backupId])).toEqual([here.backupId]);
  const later = randomUUID();
  await here.snapshots.snapshot(here.install, later);
  await expectPage(later);
});

test('a sound pack replaces a damaged one, and does not count as damaged once it has been read', async () => {
  copyElsewhere();
  damagePage();
  await expect(here.snapshots.restore(here.install, here.backupId)).rejects.toThrow('is damaged');
  fs.rmSync(here.manifestPath());
  expect(await returnThem([here.backupId])).toEqual([here.backupId]);
  await here.snapshots.snapshot(here.install, randomUUID());
  expect(fs.readdirSync(dirname(pack)).filter((name) => name.endsWith(markOf('')))).toEqual([]);
  await expectPage(here.backupId);
});

test('a pack that is cut off is replaced', async () => {
  copyElsewhere();
  fs.truncateSync(pack, fs.statSync(pack).size - 1);
  fs.rmSync(here.manifestPath());
  expect(await returnThem([here.backupId])).toEqual([here.backupId]);
  await expectPage(here.backupId);
});

test('a damaged pack brings its mark with it', async () => {
  damagePage();
  fs.writeFileSync(markOf(pack), '');
  copyElsewhere();
  fs.rmSync(here.backups, { recursive: true });
  await returnThem([here.backupId]);
  expect(fs.readdirSync(dirname(pack)).sort()).toEqual([basename(pack), basename(markOf(pack))]);
});

test('the manifest of an archive that is not there is no backup', async () => {
  fs.rmSync(here.backups, { recursive: true });
  fs.mkdirSync(elsewhere());
  fs.writeFileSync(join(elsewhere(), `${here.backupId}.manifest.jsonl`), '');
  expect(await returnThem([here.backupId])).toEqual([]);
});

test('a failure leaves none of the packs that were put back, and deletes no other', async () => {
  here.put('page.html', randomBytes(5_000));
  await here.snapshots.snapshot(here.install, randomUUID());
  const [second = ''] = here.packs().filter((one) => one !== pack);
  here.put('page.html', randomBytes(5_000));
  await here.snapshots.snapshot(here.install, randomUUID());
  copyElsewhere();
  for (const name of fs.readdirSync(here.backups)) if (name !== 'packs') fs.rmSync(join(here.backups, name));
  const [third = ''] = here.packs().filter((one) => one !== pack && one !== second);
  for (const lost of [pack, second]) fs.rmSync(lost);
  const [last] = [pack, second]
    .map((one) => basename(one))
    .sort()
    .reverse();
  await expect(returnThem([here.backupId], (path) => basename(path) === last)).rejects.toThrow('failed');
  expect(here.packs()).toEqual([third]);
  expect(await returnThem([here.backupId])).toEqual([here.backupId]);
  await expectPage(here.backupId);
});
