import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createWaitProgress } from './wait-progress.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function recorded(isTTY: boolean) {
  const written: string[] = [];
  return {
    written,
    progress: createWaitProgress('Building', { isTTY, write: (text) => written.push(text) }),
  };
}

it('counts the seconds on one line of a terminal, which is empty at the end', () => {
  const { written, progress } = recorded(true);
  progress.begin();
  vi.advanceTimersByTime(2_000);
  progress.end();
  progress.end();
  expect(written).toEqual([
    '\r\u001b[2KBuilding: 0 s',
    '\r\u001b[2KBuilding: 1 s',
    '\r\u001b[2KBuilding: 2 s',
    '\r\u001b[2K',
  ]);
  vi.advanceTimersByTime(5_000);
  expect(written).toHaveLength(4);
});

it('is one line without a terminal, and nothing if it never begins', () => {
  const { written, progress } = recorded(false);
  progress.end();
  expect(written).toEqual([]);
  progress.begin();
  vi.advanceTimersByTime(60_000);
  progress.end();
  expect(written).toEqual(['Building.\n']);
});
