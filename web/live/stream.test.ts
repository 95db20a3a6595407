import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { followStream, type Stream } from './stream.ts';

class FakeStream implements Stream {
  readyState = 1;
  readonly #listeners = new Map<string, (event: MessageEvent) => void>();
  addEventListener(type: string, listener: (event: MessageEvent) => void): void {
    this.#listeners.set(type, listener);
  }
  close(): void {
    this.readyState = 2;
  }
  tell(type: string, data = ''): void {
    this.#listeners.get(type)?.(new MessageEvent(type, { data }));
  }
  /** Fails as in a browser when the response is not a stream. */
  refuse(): void {
    this.readyState = 2;
    this.tell('error');
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function follow() {
  const streams: FakeStream[] = [];
  const events: string[] = [];
  const leave = followStream(
    'https://homeport.example/portal/api/events',
    {
      opened: () => events.push('opened'),
      broken: () => events.push('broken'),
      change: (text) => events.push(text),
      resync: () => events.push('resync'),
      refused: () => events.push('refused'),
    },
    () => {
      const stream = new FakeStream();
      streams.push(stream);
      return stream;
    },
  );
  const open = () => streams.filter(({ readyState }) => readyState !== 2).length;
  return { streams, events, leave, open };
}

it('passes events on until it is stopped', () => {
  const { streams, events, leave, open } = follow();
  streams[0]?.tell('open');
  streams[0]?.tell('resync');
  streams[0]?.tell('change', 'one');
  expect(events).toEqual(['opened', 'resync', 'one']);
  leave();
  expect(open()).toBe(0);
});

it('reports a refused connection and retries after five seconds', () => {
  const { streams, events, open } = follow();
  streams[0]?.refuse();
  expect(events).toEqual(['broken', 'refused']);
  vi.advanceTimersByTime(4_999);
  expect(streams).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(streams).toHaveLength(2);
  expect(open()).toBe(1);
});

it('leaves reconnecting a broken connection to the browser', () => {
  const { streams, events } = follow();
  if (streams[0]) streams[0].readyState = 0;
  streams[0]?.tell('error');
  vi.advanceTimersByTime(60_000);
  expect(events).toEqual(['broken']);
  expect(streams).toHaveLength(1);
});

it('does not retry once it is stopped', () => {
  const { streams, leave } = follow();
  streams[0]?.refuse();
  leave();
  vi.advanceTimersByTime(60_000);
  expect(streams).toHaveLength(1);
});
