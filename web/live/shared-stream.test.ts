import { afterEach, expect, it, vi } from 'vitest';
import { shareStream } from './shared-stream.ts';
import type { StreamListener } from './stream.ts';

/** Of the tests' own process, which has locks and channels as a browser has. */
const locks: Pick<LockManager, 'request'> = navigator.locks;
const openChannel = (name: string) => new BroadcastChannel(name);

const leaves: (() => void)[] = [];
afterEach(() => {
  for (const leave of leaves.splice(0)) leave();
});

let names = 0;
/** Pages that follow one stream; `following` are those that hold a connection. */
function browser({ without = false } = {}) {
  names += 1;
  const name = `stream ${names}`;
  const following = new Map<string, StreamListener>();
  let connections = 0;
  function open(page: string, as = name, its: Pick<LockManager, 'request'> | undefined = locks) {
    const told: string[] = [];
    const follow = (listener: StreamListener) => {
      connections += 1;
      following.set(page, listener);
      return () => following.delete(page);
    };
    const leave = shareStream(
      as,
      follow,
      {
        opened: () => told.push('opened'),
        broken: () => told.push('broken'),
        change: (text) => told.push(text),
        resync: () => told.push('resync'),
        refused: () => told.push('refused'),
      },
      { locks: without ? undefined : its, openChannel },
    );
    leaves.push(leave);
    return { told, leave };
  }
  const holders = () => [...following.keys()];
  return { open, following, holders, connections: () => connections };
}

it('is followed by one page, which tells the others', async () => {
  const { open, following, holders, connections } = browser();
  const first = open('first');
  await vi.waitFor(() => expect(holders()).toEqual(['first']));
  const second = open('second');
  const third = open('third');
  await vi.waitFor(() => expect([second.told, third.told]).toEqual([['resync'], ['resync']]));
  following.get('first')?.change('one');
  following.get('first')?.refused();
  await vi.waitFor(() => expect(third.told).toEqual(['resync', 'one', 'refused']));
  expect(second.told).toEqual(third.told);
  expect(first.told).toEqual(['one', 'refused']);
  expect(connections()).toBe(1);
});

it('passes on when that page leaves, and those that left get nothing', async () => {
  const { open, following, holders, connections } = browser();
  const first = open('first');
  await vi.waitFor(() => expect(holders()).toEqual(['first']));
  const second = open('second');
  await vi.waitFor(() => expect(second.told).toEqual(['resync']));
  const third = open('third');
  await vi.waitFor(() => expect(third.told).toEqual(['resync']));
  second.leave();
  first.leave();
  expect(holders()).toEqual([]);
  await vi.waitFor(() => expect(holders()).toEqual(['third']));
  following.get('third')?.resync();
  following.get('third')?.change('two');
  expect(third.told).toEqual(['resync', 'resync', 'two']);
  expect([first.told, second.told]).toEqual([[], ['resync']]);
  expect(connections()).toBe(2);
});

it('is not shared with those who follow under another name', async () => {
  const { open, following, holders } = browser();
  open('mine');
  await vi.waitFor(() => expect(holders()).toEqual(['mine']));
  const other = open('other', 'of somebody else');
  await vi.waitFor(() => expect(holders()).toEqual(['mine', 'other']));
  const beside = open('beside');
  await vi.waitFor(() => expect(beside.told).toEqual(['resync']));
  following.get('mine')?.change('one');
  await vi.waitFor(() => expect(beside.told).toContain('one'));
  expect(other.told).toEqual([]);
});

it('is followed by each page for itself where the browser has no locks', () => {
  const { open, holders } = browser({ without: true });
  const first = open('first');
  open('second');
  expect(holders()).toEqual(['first', 'second']);
  first.leave();
  expect(holders()).toEqual(['second']);
});

it('is followed by a page for itself that the browser refuses the lock', async () => {
  const { open, following, holders } = browser();
  const refused = open('refused', undefined, {
    request: () => Promise.reject(new DOMException('not here', 'SecurityError')),
  });
  await vi.waitFor(() => expect(holders()).toEqual(['refused']));
  following.get('refused')?.change('one');
  expect(refused.told).toEqual(['one']);
  refused.leave();
  expect(holders()).toEqual([]);
});

it('opens no connection for a page that has left before the lock came', async () => {
  const { open, connections } = browser();
  open('first').leave();
  const second = open('second');
  await vi.waitFor(() => expect(connections()).toBe(1));
  second.leave();
  expect(connections()).toBe(1);
});
