import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLinesWriter } from '../checked-lines.ts';
import { capture, type Link } from './capture.ts';
import { encodeChunks } from './chunk-list.ts';
import { createChunkStore } from './chunk-store.ts';

let base: string;
let folder: string;
let to: string;
let packs: string;
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'capture-'));
  [folder, to, packs] = [join(base, 'store'), join(base, 'to'), join(base, 'to/packs')];
  for (const made of [folder, to]) fs.mkdirSync(made);
});
afterEach(() => fs.rmSync(base, { recursive: true }));

const open = (place = folder) => createChunkStore(place, { packBytes: 100_000 });
const manifestOf = (name: string) => join(base, `${name}.jsonl`);
const some = (count: number) => Array.from({ length: count }, () => randomBytes(20_000));
const packsIn = (place: string) => fs.readdirSync(place).filter((name) => name.endsWith('.pack'));

async function backUp(name: string, contents: readonly Buffer[]): Promise<void> {
  const store = open();
  const chunks = contents.map((content) => store.add(content));
  store.finish();
  store.close();
  const lines = await createLinesWriter(manifestOf(name));
  await lines.add({ chunks: encodeChunks(chunks).toString('base64') });
  await lines.finish({});
  await lines.close();
}

const link: Link = (from, target) => {
  if (!fs.existsSync(from)) return false;
  fs.linkSync(from, target);
  return true;
};

function capturing(linking: Link = link): string[] {
  const manifests = ['all', 'evens'].map(manifestOf);
  return capture(folder, { manifests, others: [], to, packs }, linking);
}

/** Every captured backup can be read from the captured packs alone. */
function expectWhole(): void {
  const store = open(packs);
  for (const name of fs.readdirSync(to).filter((one) => one.endsWith('.jsonl'))) {
    expect(store.check(join(to, name), true), name).toBe(0);
  }
  store.close();
}

test('captured backups are whole, at whichever step another one is deleted and the store is pruned', async () => {
  const contents = some(12);
  await backUp('all', contents);
  await backUp(
    'evens',
    contents.filter((_content, index) => index % 2 === 0),
  );
  const copy = join(base, 'copy');
  fs.cpSync(folder, copy, { recursive: true });
  fs.copyFileSync(manifestOf('all'), `${copy}.jsonl`);
  let steps = 0;
  for (let at = 0; at <= steps; at++) {
    for (const made of [folder, to]) fs.rmSync(made, { recursive: true });
    fs.mkdirSync(to);
    fs.cpSync(copy, folder, { recursive: true });
    fs.copyFileSync(`${copy}.jsonl`, manifestOf('all'));
    steps = 0;
    const damaged = capturing((from, target) => {
      if (steps === at) {
        fs.rmSync(manifestOf('all'));
        open().prune([manifestOf('evens')], true);
      }
      steps += 1;
      return link(from, target);
    });
    expect(damaged).toEqual([]);
    expect(fs.readdirSync(to)).toContain('evens.jsonl');
    expectWhole();
  }
  expect(steps).toBeGreaterThan(4);
});

test('chunks of an unfinished backup are left out', async () => {
  await backUp('evens', some(3));
  await backUp('all', some(3));
  await backUp('unfinished', some(8));
  fs.writeFileSync(join(folder, 'half.pack.part'), 'half');
  expect(capturing()).toEqual([]);
  expect(packsIn(packs)).toHaveLength(2);
  expect(fs.readdirSync(packs)).toHaveLength(2);
  expectWhole();
});

test('a damaged backup is captured and named, with all packs and their marks', async () => {
  await backUp('evens', some(3));
  const [whole = ''] = packsIn(folder);
  await backUp('all', some(7));
  const damaged = packsIn(folder).filter((name) => name !== whole);
  fs.truncateSync(join(folder, damaged[0] ?? ''), 100);
  fs.writeFileSync(join(folder, `${damaged[1]}.damaged`), '');
  expect(capturing()).toEqual([manifestOf('all')]);
  expect(packsIn(packs).sort()).toEqual(packsIn(folder).sort());
  expect(fs.existsSync(join(packs, `${damaged[1]}.damaged`))).toBe(true);
  fs.truncateSync(join(to, 'evens.jsonl'), 20);
  expect(() => expectWhole()).toThrow();
});
