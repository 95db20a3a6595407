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
  /** As a browser tells of an answer that is no stream. */
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
  const told: string[] = [];
  const leave = followStream(
    'https://homeport.example/portal/api/events',
    {
      opened: () => told.push('opened'),
      broken: () => told.push('broken'),
      change: (text) => told.push(text),
      resync: () => told.push('resync'),
      refused: () => told.push('refused'),
    },
    () => {
      const stream = new FakeStream();
      streams.push(stream);
      return stream;
    },
  );
  const open = () => streams.filter(({ readyState }) => readyState !== 2).length;
  return { streams, told, leave, open };
}

it('tells what comes, until it is left', () => {
  const { streams, told, leave, open } = follow();
  streams[0]?.tell('open');
  streams[0]?.tell('resync');
  streams[0]?.tell('change', 'one');
  expect(told).toEqual(['opened', 'resync', 'one']);
  leave();
  expect(open()).toBe(0);
});

it('says that it was refused, and asks again after a while', () => {
  const { streams, told, open } = follow();
  streams[0]?.refuse();
  expect(told).toEqual(['broken', 'refused']);
  vi.advanceTimersByTime(4_999);
  expect(streams).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(streams).toHaveLength(2);
  expect(open()).toBe(1);
});

it('leaves a connection that broke to the browser, which takes it up again', () => {
  const { streams, told } = follow();
  if (streams[0]) streams[0].readyState = 0;
  streams[0]?.tell('error');
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual(['broken']);
  expect(streams).toHaveLength(1);
});

it('asks for nothing more once it is left, also if it was refused just before', () => {
  const { streams, leave } = follow();
  streams[0]?.refuse();
  leave();
  vi.advanceTimersByTime(60_000);
  expect(streams).toHaveLength(1);
});
