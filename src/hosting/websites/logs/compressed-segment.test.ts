import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { compressBlocks, openCompressed } from './compressed-segment.ts';
import type { Block, SegmentContent } from './segments.ts';

const LINES = ['one\n', 'two\nthree\n', 'four\n', 'five\nsix\nseven\n', 'eight\n'];
const TEXT = LINES.join('');

let place: ReturnType<typeof temporaryFolder>;
let file: string;
beforeAll(async () => {
  place = temporaryFolder();
  file = join(place.path, 'segment.zst');
  await writeFile(file, compressBlocks(blocks()));
});
afterAll(() => place.remove());

async function* blocks(): AsyncGenerator<Block> {
  let start = 0;
  for (const text of LINES) {
    yield { buffer: Buffer.from(text), start };
    start += text.length;
  }
}

async function opened(path = file): Promise<SegmentContent> {
  const content = await openCompressed(path);
  if (content === null) throw new Error('the segment is missing');
  return content;
}

async function textsOf(found: AsyncIterable<Block>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { buffer, start } of found) {
    const text = buffer.toString();
    expect(TEXT.slice(start, start + text.length)).toBe(text);
    texts.push(text);
  }
  return texts;
}

describe('a compressed segment', () => {
  it('has its blocks in both directions, from any line', async () => {
    const content = await opened();
    expect(content.size).toBe(TEXT.length);
    expect(await content.endOfLines()).toBe(TEXT.length);
    for (let at = 0; at <= TEXT.length; at++) {
      if (at > 0 && TEXT[at - 1] !== '\n') continue;
      expect((await textsOf(content.blocksFrom(at))).join('')).toBe(TEXT.slice(at));
      expect((await textsOf(content.blocksBefore(at))).reverse().join('')).toBe(TEXT.slice(0, at));
    }
    expect(await textsOf(content.blocksBefore(Number.MAX_SAFE_INTEGER))).toEqual(LINES.toReversed());
    expect(await textsOf(content.blocksFrom(Number.MAX_SAFE_INTEGER))).toEqual([]);
  });

  it.skipIf(spawnSync('zstd', ['--version']).status !== 0)('is a file for zstd', () => {
    expect(spawnSync('zstd', ['-dc', file]).stdout.toString()).toBe(TEXT);
  });

  it('may be empty', async () => {
    const empty = join(place.path, 'empty.zst');
    await writeFile(empty, compressBlocks((async function* none() {})()));
    expect(await textsOf((await opened(empty)).blocksBefore(10))).toEqual([]);
  });

  it('of one frame, as earlier versions wrote it, is read', async () => {
    const earlier = join(place.path, 'earlier.zst');
    writeFileSync(earlier, zstdCompressSync(TEXT));
    const content = await opened(earlier);
    expect(content.size).toBe(TEXT.length);
    expect(await textsOf(content.blocksBefore(content.size))).toEqual([TEXT]);
  });

  it('is null if it is missing', async () => {
    expect(await openCompressed(join(place.path, 'missing'))).toBeNull();
  });
});
