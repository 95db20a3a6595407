import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rounds } from '../../../../../test/rounds.ts';
import { createLinesWriter } from '../checked-lines.ts';
import { type ChunkRef, encodeChunks } from './chunk-list.ts';
import { createChunkStore } from './chunk-store.ts';
import { type Disk, realDisk } from './disk.ts';

const PACK_BYTES = 100_000;

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'store-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const packsIn = (place: string) => fs.readdirSync(place).filter((name) => name.endsWith('.pack'));
const storedBytes = (place = folder) =>
  packsIn(place).reduce((sum, name) => sum + fs.statSync(join(place, name)).size, 0);

const open = (disk: Disk = realDisk, place = folder) =>
  createChunkStore(place, { disk, packBytes: PACK_BYTES });

/** Stores contents, and writes the manifest that lists them. */
async function backUp(name: string, contents: readonly Buffer[], disk = realDisk): Promise<ChunkRef[]> {
  const store = open(disk);
  const chunks = contents.map((content) => store.add(content));
  store.finish();
  store.close();
  const lines = await createLinesWriter(manifestOf(name));
  await lines.add({ chunks: encodeChunks(chunks).toString('base64') });
  await lines.finish({});
  await lines.close();
  return chunks;
}

const manifestOf = (name: string): string => join(folder, `${name}.jsonl`);
const manifests = (): string[] =>
  fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name));

function expectContents(chunks: readonly ChunkRef[], contents: readonly Buffer[]): void {
  const store = open();
  expect(store.read(chunks).equals(Buffer.concat(contents))).toBe(true);
  store.close();
}

const some = (count: number, bytes = 20_000): Buffer[] =>
  Array.from({ length: count }, () => randomBytes(bytes));

/** A disk on which the change with this number and all later ones fail, half done, as when the process is killed. */
function dyingDisk(dies: number): Disk & { changes(): number } {
  let done = 0;
  const or =
    <Given extends unknown[]>(work: (...given: Given) => void, half: (...given: Given) => void = () => {}) =>
    (...given: Given): void => {
      if (done === dies) half(...given);
      if (done >= dies) throw new Error('killed');
      done += 1;
      work(...given);
    };
  return {
    write: or(realDisk.write, (path, pieces) => fs.writeFileSync(path, pieces[0] ?? '')),
    rename: or(realDisk.rename),
    remove: or(realDisk.remove),
    syncFolder: or(realDisk.syncFolder),
    changes: () => done,
  };
}

test('equal chunks are stored once, and what does not shrink is stored as it is', async () => {
  const [one = Buffer.alloc(0), two = Buffer.alloc(0)] = some(2);
  const text = Buffer.from('lorem ipsum '.repeat(5_000));
  const chunks = await backUp('a', [one, text, two, one]);
  const stored = storedBytes();
  expect(stored).toBeLessThan(one.length + two.length + 2_000);
  expectContents(chunks, [one, text, two, one]);
  expectContents(await backUp('b', [two, text, one]), [two, text, one]);
  expect(storedBytes()).toBe(stored);
});

test('a change in a large file stores the chunks around it only', () => {
  const large = randomBytes(8 * 1024 * 1024);
  const changed = Buffer.concat([
    large.subarray(0, 3_000_000),
    Buffer.from('inserted'),
    large.subarray(3_000_000),
  ]);
  const store = createChunkStore(folder);
  const bytesOf = (content: Buffer, isDatabase = false) => {
    for (let at = 0; at < content.length; at += 200_000) {
      store.push(Buffer.from(content.subarray(at, at + 200_000)), isDatabase);
    }
    const chunks = store.end();
    expect(store.read.bind(store, [])).not.toThrow();
    return { chunks, bytes: store.finish() };
  };
  const first = bytesOf(large);
  expect(first.bytes).toBe(large.length);
  const second = bytesOf(changed);
  expect(second.bytes - first.bytes).toBeLessThan(2 * 1024 * 1024);
  store.close();
  expectContents(second.chunks, [changed]);
});

test('a damaged chunk is named, and the next backup stores it again', async () => {
  const contents = some(3);
  const chunks = await backUp('a', contents);
  await backUp('whole', contents.slice(0, 1));
  const [pack = ''] = packsIn(folder);
  const bytes = fs.readFileSync(join(folder, pack));
  bytes[25_000] = (bytes[25_000] ?? 0) ^ 1;
  fs.writeFileSync(join(folder, pack), bytes);
  expect(() => open().read(chunks)).toThrow(`a chunk of the pack ${pack} does not match its checksum`);
  expect(open().check(manifestOf('a'), false)).toBe(3);
  // A backup whose chunks are whole is not damaged by others in the same pack.
  expect(open().check(manifestOf('whole'), false)).toBe(1);
  expect(open().check(manifestOf('whole'), true)).toBe(0);
  expect(() => open().check(manifestOf('a'), true)).toThrow('does not match its checksum');
  expectContents(await backUp('b', contents.slice(1)), contents.slice(1));
  expectContents(chunks.slice(1), contents.slice(1));
  // The rest of the damaged pack stays readable, and is kept while a backup uses it.
  open().prune(manifests(), true);
  expectContents(chunks, contents);
  for (const name of ['a', 'whole']) fs.rmSync(manifestOf(name));
  open().prune(manifests(), true);
  expect(packsIn(folder)).not.toContain(pack);
  expectContents(chunks.slice(1), contents.slice(1));
});

test('the mark of a pack that is gone is deleted', async () => {
  await backUp('a', some(1));
  const mark = join(folder, `${'0'.repeat(64)}.pack.damaged`);
  fs.writeFileSync(mark, '');
  open().prune(manifests(), false);
  expect(fs.existsSync(mark)).toBe(false);
});

test.each([0, 10, 1_000, -1])('a pack that is cut off at %i bytes counts as missing', async (bytes) => {
  const contents = some(3);
  const chunks = await backUp('a', contents);
  const [pack = ''] = packsIn(folder);
  fs.truncateSync(join(folder, pack), bytes < 0 ? fs.statSync(join(folder, pack)).size + bytes : bytes);
  expect(() => open().read(chunks)).toThrow(/is missing/);
  expect(open().check(manifestOf('a'), false)).toBe(3);
  expectContents(await backUp('b', contents), contents);
  expectContents(chunks, contents);
});

test.each<[damage: string, change: (manifest: string) => string]>([
  ['end', (manifest) => manifest.slice(0, -10)],
  ['list of chunks', (manifest) => manifest.replace(/"chunks":"..../, '"chunks":"')],
  ['line', (manifest) => manifest.replace('"chunks"', '"chunks')],
])('pruning changes nothing if the %s of a manifest is damaged', async (_damage, change) => {
  await backUp('a', some(3));
  await backUp('b', some(3));
  fs.rmSync(manifestOf('a'));
  fs.writeFileSync(manifestOf('b'), change(fs.readFileSync(manifestOf('b'), 'utf8')));
  const before = packsIn(folder);
  const damaged = open().prune(manifests(), true);
  expect(damaged).toEqual([{ manifest: manifestOf('b'), reason: expect.stringContaining('its manifest') }]);
  expect(packsIn(folder)).toEqual(before);
});

test('pruning gives back the space of deleted backups', async () => {
  const kept = some(4);
  const chunks = await backUp('a', kept);
  await backUp('b', [...kept.slice(0, 2), ...some(20)]);
  for (let n = 0; n < 20; n++) await backUp(`small-${n}`, some(1, 100));
  fs.rmSync(manifestOf('b'));
  open().prune(manifests(), true);
  expect(storedBytes()).toBeLessThan(4 * 20_000 + 20 * 100 + 5_000);
  expect(packsIn(folder).length).toBeLessThan(4);
  expectContents(chunks, kept);
  for (const manifest of manifests()) fs.rmSync(manifest);
  open().prune([], true);
  expect(packsIn(folder)).toEqual([]);
});

const holds = (pack: string, content: Buffer = Buffer.alloc(0)): boolean =>
  fs.readFileSync(join(folder, pack)).includes(content);

/** A disk with room for so many bytes more than there are. */
function smallDisk(room: number): Disk {
  const most = storedBytes() + room;
  return {
    ...realDisk,
    write(path, pieces) {
      const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
      if (storedBytes() + bytes <= most) return realDisk.write(path, pieces);
      realDisk.write(path, pieces.slice(0, 1));
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    },
  };
}

/** Two packs are not used after the deletion, and six in part. */
test.each([
  { room: 0, left: 6 * 100_000 },
  { room: 150_000, left: 6 * 60_000 },
])('pruning with room for $room bytes only frees what it can', async ({ room, left }) => {
  const contents = some(40);
  await backUp('all', contents);
  const kept = contents.slice(0, 30).filter((_content, index) => index % 5 < 3);
  const chunks = await backUp('kept', kept);
  fs.rmSync(manifestOf('all'));
  open(smallDisk(room)).prune(manifests(), true);
  expect(storedBytes()).toBeLessThan(left + 10_000);
  expect(fs.readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  expectContents(chunks, kept);
});

test('pruning leaves a pack that its disk cannot read, and frees others', async () => {
  const contents = some(15);
  await backUp('all', contents);
  await backUp('kept', [...contents.slice(0, 3), ...contents.slice(5, 8)]);
  fs.rmSync(manifestOf('all'));
  const [broken = ''] = packsIn(folder).filter((name) => holds(name, contents[0]));
  const { ino } = fs.statSync(join(folder, broken));
  const read = fs.readSync;
  const reading = vi.spyOn(fs, 'readSync').mockImplementation((...given: unknown[]): number => {
    const isOfChunk = given[1] instanceof Uint8Array && given[1].length === 20_000;
    if (isOfChunk && fs.fstatSync(Number(given[0])).ino === ino) {
      throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
    }
    return Number(Reflect.apply(read, fs, given));
  });
  syncBuiltinESMExports();
  try {
    open().prune(manifests(), true);
  } finally {
    reading.mockRestore();
    syncBuiltinESMExports();
  }
  expect(packsIn(folder)).toContain(broken);
  expect(storedBytes()).toBeLessThan(170_000);
  expect(open().check(manifestOf('kept'), true)).toBe(0);
});

test('a process that is killed at any step of pruning loses nothing, and the next run completes it', async () => {
  const contents = some(12);
  const evens = contents.filter((_content, index) => index % 2 === 0);
  await backUp('all', contents);
  const chunks = await backUp('evens', evens);
  fs.rmSync(manifestOf('all'));
  const copy = `${folder}-start`;
  fs.cpSync(folder, copy, { recursive: true });
  let steps = 0;
  for (let dies = 0; ; dies++) {
    fs.rmSync(folder, { recursive: true });
    fs.cpSync(copy, folder, { recursive: true });
    const disk = dyingDisk(dies);
    let isDead = false;
    try {
      open(disk).prune(manifests(), true);
    } catch (error) {
      expect(error).toMatchObject({ message: 'killed' });
      isDead = true;
    }
    expectContents(chunks, evens);
    const later = some(1);
    expectContents(await backUp('later', [...evens, ...later]), [...evens, ...later]);
    open().prune(manifests(), true);
    expectContents(chunks, evens);
    // A quarter of a pack may stay unused.
    expect(storedBytes()).toBeLessThan((7 * 20_000 * 4) / 3 + 5_000);
    if (!isDead) break;
    steps += 1;
  }
  fs.rmSync(copy, { recursive: true });
  // A new pack with its name and mark, the folder, and both files of each former pack.
  expect(steps).toBeGreaterThanOrEqual(7);
});

test('a process that is killed at any step of a backup harms no other, and the next run uses what is there', async () => {
  const first = some(3);
  const chunks = await backUp('first', first);
  const contents = [...first, ...some(12)];
  for (let dies = 0; ; dies++) {
    const isDead = await backUp('second', contents, dyingDisk(dies)).then(
      () => false,
      () => true,
    );
    if (!isDead) break;
    expect(fs.existsSync(manifestOf('second'))).toBe(false);
    expectContents(chunks, first);
    if (dies % 2 === 0) open().prune(manifests(), true);
    expectContents(chunks, first);
  }
  expectContents(await backUp('third', contents), contents);
  expect(fs.readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('a reader finds chunks whose pack was exchanged for another meanwhile', async () => {
  const contents = some(4);
  await backUp('all', contents);
  const chunks = await backUp('some', contents.slice(0, 2));
  const reader = open();
  reader.read([]);
  expect(reader.check(manifestOf('some'), false)).toBe(0);
  fs.rmSync(manifestOf('all'));
  open().prune(manifests(), true);
  expect(reader.read(chunks).equals(Buffer.concat(contents.slice(0, 2)))).toBe(true);
  reader.close();
});

test('a store finds each of thousands of chunks, and stores none again', async () => {
  // The index grows three times, and five times in the long tests.
  const contents = Array.from({ length: rounds(4_000, 20_000) }, (_, at) => Buffer.from(`content ${at}`));
  const chunks = await backUp('a', contents);
  const before = storedBytes();
  await backUp('b', contents);
  expect(storedBytes()).toBe(before);
  expect(open().check(manifestOf('b'), false)).toBe(0);
  expectContents(chunks, contents);
  fs.rmSync(manifestOf('a'));
  expect(open().prune(manifests(), true)).toEqual([]);
  expect(open().check(manifestOf('b'), true)).toBe(0);
});
