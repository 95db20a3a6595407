import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createConnection } from './connected.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('is lost when the stream has been away for five seconds, and there with the stream', () => {
  const connection = createConnection();
  const told: boolean[] = [];
  const leave = connection.subscribe(() => told.push(connection.isConnected()));
  connection.opened();
  connection.broken();
  vi.advanceTimersByTime(4_000);
  // It tries, and tries again: that is no new beginning.
  connection.broken();
  vi.advanceTimersByTime(999);
  expect(connection.isConnected()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(connection.isConnected()).toBe(false);
  connection.broken();
  connection.opened();
  expect(told).toEqual([false, true]);
  leave();
});

it('says nothing of a stream that is there again in a moment', () => {
  const connection = createConnection();
  connection.subscribe(() => expect.unreachable());
  connection.broken();
  vi.advanceTimersByTime(3_000);
  connection.opened();
  vi.advanceTimersByTime(60_000);
  expect(connection.isConnected()).toBe(true);
});
