import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { RESTARTS, restartDelay } from '../machine/backoff.ts';
import { forEachLine, isSerious, recentLines } from './output-lines.ts';

async function linesOf(...chunks: (string | Buffer)[]): Promise<string[]> {
  const output = new PassThrough();
  const lines: string[] = [];
  forEachLine(output, (line) => lines.push(line));
  for (const chunk of chunks) output.write(chunk);
  output.end();
  await new Promise((resolve) => output.once('close', resolve));
  return lines;
}

test('lines are complete, however the output is split', async () => {
  expect(await linesOf('a', 'b\nc\n', '\nd')).toEqual(['ab', 'c', '', 'd']);
  const smile = Buffer.from('😀\n');
  expect(await linesOf(smile.subarray(0, 2), smile.subarray(2))).toEqual(['😀']);
});

test('a line without an end does not fill the memory', async () => {
  const pieces = Array.from({ length: 100 }, () => 'x'.repeat(1000));
  expect(await linesOf(...pieces, '\nnext\n')).toEqual(['x'.repeat(4096), 'next']);
});

test('keeps the last lines', () => {
  const recent = recentLines(2);
  for (const line of ['one', 'two', 'three']) recent.add(line);
  expect(recent.text()).toBe('two\nthree');
});

test('recognizes lines that report a problem', () => {
  expect(['[ERROR] x', 'nginx: [emerg] bind()', 'Warning: y', 'FATAL: z'].map(isSerious)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['ready', 'mirror on', 'Errors: none of note'].map(isSerious)).toEqual([false, false, false]);
});

test('restarts come quickly at first, then slower, until the daemon has run for long', () => {
  const delays = [null, 200, 400, 16_000, 30_000].map((previous) => restartDelay(RESTARTS, previous, 1_000));
  expect(delays).toEqual([200, 400, 800, 30_000, 30_000]);
  expect(restartDelay(RESTARTS, 30_000, 60_000)).toBe(200);
});
