import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { LogPage } from '../../../hosting/contract/logs.ts';
import { NotFound, UpstreamFailed } from '../../../lib/failures.ts';
import { type FollowedLog, followLog } from './follow.ts';

const line = (output: string) =>
  JSON.stringify({ time: '2026-01-01T00:00:00.000Z', seconds: 1, exit: 0, output });
const page = (outputs: string[], cursor: string, end = cursor): LogPage => ({
  lines: outputs.map(line),
  cursor,
  end,
});

/** Follows pages as the host returns them; an error in place of a page is thrown. Ends after the last one. */
async function follow(pages: (LogPage | Error)[], changes: Partial<FollowedLog<'cron'>> = {}) {
  const ended = vi.fn();
  const leaving = new AbortController();
  const batches: unknown[] = [];
  const asked: string[] = [];
  const log = followLog({
    kind: 'cron',
    first: page([], 'a'),
    async read(cursor) {
      asked.push(cursor);
      const next = pages.shift();
      if (next === undefined) {
        leaving.abort();
        leaving.signal.throwIfAborted();
      }
      if (next instanceof Error) throw next;
      return next ?? page([], cursor);
    },
    isAdmitted: async () => {},
    signal: leaving.signal,
    ended,
    pauses: { between: 1, unavailable: 1 },
    ...changes,
  });
  for await (const { entries, cursor, isUnavailable } of log) {
    batches.push([entries.map(({ output }) => output).join(), cursor, isUnavailable]);
  }
  expect(ended).toHaveBeenCalledOnce();
  return { batches, asked };
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}

it('goes on from the last cursor', async () => {
  expect(await follow([page(['one', 'two'], 'b', 'c'), page(['three'], 'c')])).toEqual({
    batches: [
      ['', 'a', false],
      ['one,two', 'b', false],
      ['three', 'c', false],
    ],
    asked: ['a', 'b', 'c'],
  });
});

it('pauses after a page without entries, even before the end', async () => {
  const leaving = new AbortController();
  const asked: string[] = [];
  const log = followLog({
    kind: 'cron',
    first: page(['one'], 'a', 'z'),
    async read(cursor) {
      asked.push(cursor);
      return page([], 'b', 'z');
    },
    isAdmitted: async () => {},
    signal: leaving.signal,
    ended: () => {},
    pauses: { between: 60_000, unavailable: 60_000 },
  });
  const batches = [await log.next(), await log.next()];
  expect(batches.map(({ value }) => value?.cursor)).toEqual(['a', 'b']);
  const next = log.next();
  await turns(5);
  leaving.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  expect(asked).toEqual(['a']);
});

it('tells that the host does not answer, and goes on later', async () => {
  expect(await follow([page(['one'], 'b'), new UpstreamFailed(), page(['two'], 'c')])).toMatchObject({
    batches: [
      ['', 'a', false],
      ['one', 'b', false],
      ['', 'b', true],
      ['two', 'c', false],
    ],
    asked: ['a', 'b', 'b', 'c'],
  });
});

it('ends when the caller loses access', async () => {
  const isAdmitted = () => Promise.reject(new NotFound());
  const pages = Array.from({ length: 9 }, () => page([], 'a'));
  expect((await follow(pages, { isAdmitted })).batches).toHaveLength(2);
});
