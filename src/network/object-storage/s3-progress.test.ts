import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withProgressTimeout } from './s3-progress.ts';

const TIMEOUT_MS = 100;
const LARGE = 256 * 1024;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('a slow reader is not cut off', async () => {
  const source = new Readable({ read() {} });
  const body = withProgressTimeout(source, TIMEOUT_MS, () => new Error('it stopped'));
  body.read(0);
  // More than the reader's buffer.
  source.push(Buffer.alloc(LARGE));
  source.push(null);
  await once(body, 'readable');
  vi.advanceTimersByTime(10 * TIMEOUT_MS);
  expect(await buffer(body)).toHaveLength(LARGE);
});

it('a source that keeps its reader waiting is cut off', async () => {
  const source = new Readable({ read() {} });
  const body = withProgressTimeout(source, TIMEOUT_MS, () => new Error('it stopped'));
  const received = buffer(body);
  source.push('begin');
  await once(source, 'data');
  vi.advanceTimersByTime(TIMEOUT_MS);
  await expect(received).rejects.toThrow('it stopped');
  expect(source.destroyed).toBe(true);
});
