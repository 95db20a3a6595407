import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createConnection } from './connected.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('is lost after five seconds without the stream, and restored with it', () => {
  const connection = createConnection();
  const changes: boolean[] = [];
  const leave = connection.subscribe(() => changes.push(connection.isConnected()));
  connection.opened();
  connection.broken();
  vi.advanceTimersByTime(4_000);
  // A failed attempt to reconnect does not restart the five seconds.
  connection.broken();
  vi.advanceTimersByTime(999);
  expect(connection.isConnected()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(connection.isConnected()).toBe(false);
  connection.broken();
  connection.opened();
  expect(changes).toEqual([false, true]);
  leave();
});

it('ignores a stream that recovers quickly', () => {
  const connection = createConnection();
  connection.subscribe(() => expect.unreachable());
  connection.broken();
  vi.advanceTimersByTime(3_000);
  connection.opened();
  vi.advanceTimersByTime(60_000);
  expect(connection.isConnected()).toBe(true);
});
