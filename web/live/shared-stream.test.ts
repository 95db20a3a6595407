import { afterEach, expect, it, vi } from 'vitest';
import { shareStream } from './shared-stream.ts';
import type { StreamListener } from './stream.ts';

/** Node has the same locks and channels as a browser. */
const locks: Pick<LockManager, 'request'> = navigator.locks;
const openChannel = (name: string) => new BroadcastChannel(name);

const leaves: (() => void)[] = [];
afterEach(() => {
  for (const leave of leaves.splice(0)) leave();
});

let names = 0;
/** A browser whose pages share one stream; `following` has the pages with a connection. */
function browser({ without = false } = {}) {
  names += 1;
  const name = `stream ${names}`;
  const following = new Map<string, StreamListener>();
  let connections = 0;
  function open(page: string, as = name, its: Pick<LockManager, 'request'> | undefined = locks) {
    const events: string[] = [];
    const follow = (listener: StreamListener) => {
      connections += 1;
      following.set(page, listener);
      return () => following.delete(page);
    };
    const leave = shareStream(
      as,
      follow,
      {
        opened: () => events.push('opened'),
        broken: () => events.push('broken'),
        change: (text) => events.push(text),
        resync: () => events.push('resync'),
        refused: () => events.push('refused'),
      },
      { locks: without ? undefined : its, openChannel },
    );
    leaves.push(leave);
    return { events, leave };
  }
  const holders = () => [...following.keys()];
  return { open, following, holders, connections: () => connections };
}

it('is followed by one page, which relays it to the others', async () => {
  const { open, following, holders, connections } = browser();
  const first = open('first');
  await vi.waitFor(() => expect(holders()).toEqual(['first']));
  const second = open('second');
  const third = open('third');
  await vi.waitFor(() => expect([second.events, third.events]).toEqual([['resync'], ['resync']]));
  following.get('first')?.change('one');
  following.get('first')?.refused();
  await vi.waitFor(() => expect(third.events).toEqual(['resync', 'one', 'refused']));
  expect(second.events).toEqual(third.events);
  expect(first.events).toEqual(['one', 'refused']);
  expect(connections()).toBe(1);
});

it('moves to another page when that page stops; stopped pages get nothing', async () => {
  const { open, following, holders, connections } = browser();
  const first = open('first');
  await vi.waitFor(() => expect(holders()).toEqual(['first']));
  const second = open('second');
  await vi.waitFor(() => expect(second.events).toEqual(['resync']));
  const third = open('third');
  await vi.waitFor(() => expect(third.events).toEqual(['resync']));
  second.leave();
  first.leave();
  expect(holders()).toEqual([]);
  await vi.waitFor(() => expect(holders()).toEqual(['third']));
  following.get('third')?.resync();
  following.get('third')?.change('two');
  expect(third.events).toEqual(['resync', 'resync', 'two']);
  expect([first.events, second.events]).toEqual([[], ['resync']]);
  expect(connections()).toBe(2);
});

it('is not shared with pages that use another name', async () => {
  const { open, following, holders } = browser();
  open('mine');
  await vi.waitFor(() => expect(holders()).toEqual(['mine']));
  const other = open('other', 'of another user');
  await vi.waitFor(() => expect(holders()).toEqual(['mine', 'other']));
  const beside = open('beside');
  await vi.waitFor(() => expect(beside.events).toEqual(['resync']));
  following.get('mine')?.change('one');
  await vi.waitFor(() => expect(beside.events).toContain('one'));
  expect(other.events).toEqual([]);
});

it('is followed by each page alone without locks', () => {
  const { open, holders } = browser({ without: true });
  const first = open('first');
  open('second');
  expect(holders()).toEqual(['first', 'second']);
  first.leave();
  expect(holders()).toEqual(['second']);
});

it('is followed by a page alone if the browser refuses the lock', async () => {
  const { open, following, holders } = browser();
  const refused = open('refused', undefined, {
    request: () => Promise.reject(new DOMException('not here', 'SecurityError')),
  });
  await vi.waitFor(() => expect(holders()).toEqual(['refused']));
  following.get('refused')?.change('one');
  expect(refused.events).toEqual(['one']);
  refused.leave();
  expect(holders()).toEqual([]);
});

it('opens no connection for a page that stopped before it got the lock', async () => {
  const { open, connections } = browser();
  open('first').leave();
  const second = open('second');
  await vi.waitFor(() => expect(connections()).toBe(1));
  second.leave();
  expect(connections()).toBe(1);
});
