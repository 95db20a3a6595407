import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SMALL_BYTES, TAKEN_BYTES } from '../file-state.ts';
import { type ChunkRef, listedChunks } from './chunk-list.ts';
import { idOf } from './chunk-reader.ts';
import { stateText, type Taken, takeFile, takeFiles } from './taken-files.ts';

const LATER_MS = 3_600_000;

let base: string;
let added: string[];
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'taken-')));
  added = [];
});
afterEach(() => fs.rmSync(base, { recursive: true }));

const at = (name: string): string => join(base, name);

function take(name: string, seenMs = Date.now() + LATER_MS, former = stateOf(null)): Taken {
  return takeFile({ path: at(name), former }, seenMs, { add, cut: (content) => [add(content)] });
}

function add(content: Uint8Array): ChunkRef {
  added.push(Buffer.from(content).toString());
  return { id: idOf(content), length: content.length };
}

function stateOf(name: string | null) {
  if (name === null) return null;
  const stats = fs.statSync(at(name), { bigint: true });
  return { size: Number(stats.size), mtime_ns: stats.mtimeNs.toString(), state: stateText(stats) };
}

test('a small file is stored with its state', () => {
  fs.writeFileSync(at('page'), 'content', { mode: 0o640 });
  fs.chmodSync(at('page'), 0o640);
  const taken = take('page');
  expect(taken).toMatchObject({ mode: 0o640, ...stateOf('page') });
  const chunks = listedChunks(Object(taken).chunks);
  expect(chunks).toEqual([{ id: idOf(Buffer.from('content')), length: 7 }]);
  expect(added).toEqual(['content']);
  fs.writeFileSync(at('empty'), '');
  expect(take('empty')).toMatchObject({ size: 0, chunks: '' });
  expect(added).toEqual(['content']);
});

test('a larger file is stored in chunks, and a call ends after some of them', () => {
  const cut: number[] = [];
  const sink = { add, cut: (content: Uint8Array) => [add(content.subarray(0, cut.push(content.length)))] };
  const files = Array.from({ length: 6 }, (_, n) => {
    fs.writeFileSync(at(`${n}.jpg`), Buffer.alloc(TAKEN_BYTES, n));
    return { path: at(`${n}.jpg`), former: null };
  });
  fs.writeFileSync(at('0.jpg'), Buffer.alloc(SMALL_BYTES));
  const seenMs = Date.now() + LATER_MS;
  expect(takeFiles(files, seenMs, sink).map((one) => Object(one).size)).toEqual([
    SMALL_BYTES,
    ...Array(4).fill(TAKEN_BYTES),
  ]);
  expect(cut).toEqual(Array(4).fill(TAKEN_BYTES));
  expect(takeFiles(files.slice(5), seenMs, sink)).toHaveLength(1);
});

test('a file that is as before is not read', () => {
  fs.writeFileSync(at('page'), 'content');
  const before = stateOf('page');
  expect(take('page', undefined, before)).toBe('same');
  expect(added).toEqual([]);
  fs.writeFileSync(at('page'), 'CONTENT');
  expect(take('page', undefined, before)).toMatchObject({ size: 7 });
  expect(added).toEqual(['CONTENT']);
});

test('a file that has changed lately may change again without a trace', () => {
  fs.writeFileSync(at('page'), 'content');
  const { ctimeMs } = fs.statSync(at('page'));
  expect(take('page', ctimeMs - 1)).toBeNull();
  expect(take('page', ctimeMs + 10)).toBeNull();
  expect(take('page', ctimeMs + 1_000)).toMatchObject({ state: null });
  expect(take('page', ctimeMs + 3_000)).toMatchObject({ state: expect.any(String) });
});

test('whatever is not a plain small file is left to the caller', () => {
  fs.mkdirSync(at('folder'));
  fs.writeFileSync(at('folder/page'), 'content');
  fs.symlinkSync('folder', at('linked'));
  fs.symlinkSync('folder/page', at('link'));
  fs.writeFileSync(at('large'), Buffer.alloc(TAKEN_BYTES + 1));
  fs.writeFileSync(at('stats.db'), 'SQLite format 3\0');
  execFileSync('mkfifo', [at('pipe')]);
  for (const name of ['missing', 'folder', 'linked/page', 'link', 'large', 'stats.db', 'pipe']) {
    expect(take(name), name).toBeNull();
  }
  expect(added).toEqual([]);
});

test('a failure of the store is none of the file', () => {
  fs.writeFileSync(at('page'), 'content');
  const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'writev' });
  const fail = () => {
    throw full;
  };
  expect(() =>
    takeFile({ path: at('page'), former: null }, Date.now() + LATER_MS, {
      add: fail,
      cut: fail,
    }),
  ).toThrow(full);
});
