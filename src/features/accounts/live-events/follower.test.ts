import { describe, expect, it, vi } from 'vitest';
import type { DatabaseChange } from '../../../database/change-feed.ts';
import { eventStream } from './event-stream.ts';
import { createFollower, type LiveListener } from './follower.ts';
import type { Rights } from './rights.ts';

const TIMES = { gatherMs: 5, rightsMs: 2_000, sessionMs: 60_000 };
const owner: Rights = {
  userId: 'me',
  roles: new Map([['a', 'owner']]),
  installs: new Set(),
  sites: new Set(),
};

const siteChange = (id: string, account_id = 'a'): DatabaseChange => ({
  topic: 'site',
  account_id,
  install_id: null,
  id,
  user_id: null,
});

/** A follower past its first `resync`, and the events since. */
async function following(load: () => Promise<Rights> = async () => owner) {
  const events: unknown[] = [];
  const follower = createFollower({
    userId: 'me',
    listener: {
      changed: (change) => events.push(change.id),
      resync: () => events.push('resync'),
      ended: () => events.push('ended'),
    },
    rights: load,
    isLive: async () => true,
    times: TIMES,
  });
  const until = async (expected: unknown[]) => {
    await vi.waitFor(() => expect(events).toEqual(expected), { timeout: 20_000, interval: 2 });
    events.length = 0;
  };
  follower.resync();
  await until(['resync']);
  return { follower, events, until };
}

describe('a follower', () => {
  it('sends a burst of changes once', async () => {
    const { follower, until } = await following();
    for (let again = 0; again < 20; again++) follower.changed(siteChange('one'));
    follower.changed(siteChange('two'));
    await until(['one', 'two']);
    follower.changed(siteChange('one'));
    await until(['one']);
    follower.end();
    follower.changed(siteChange('one'));
    await until(['ended']);
  });

  it('sends one resync for more changes than it holds', async () => {
    const { follower, until } = await following();
    for (let n = 0; n < 2_000; n++) follower.changed(siteChange(`n${n}`));
    await until(['resync']);
    follower.changed(siteChange('after'));
    await until(['after']);
    follower.end();
  });

  it('drops changes of other accounts', async () => {
    const { follower, until } = await following();
    for (let n = 0; n < 2_000; n++) follower.changed(siteChange(`n${n}`, 'another'));
    follower.changed(siteChange('mine'));
    await until(['mine']);
    follower.end();
  });

  it('sends a resync after rights could not be loaded', async () => {
    let away = false;
    const { follower, until } = await following(async () => {
      if (away) throw new Error('the database is away');
      return owner;
    });
    away = true;
    follower.resync();
    follower.changed(siteChange('lost'));
    setTimeout(() => {
      away = false;
    }, 20);
    await until(['resync']);
    follower.end();
  });
});

describe('an event stream', () => {
  it('disconnects a client that does not read, and stops following', async () => {
    let listener: LiveListener | undefined;
    const stop = vi.fn();
    const stream = eventStream((given) => {
      listener = given;
      return stop;
    });
    let sent = 0;
    while (!stream.destroyed && sent < 10_000) {
      listener?.changed(siteChange(`n${sent}`));
      sent += 1;
    }
    expect(stream.destroyed).toBe(true);
    expect(sent).toBeGreaterThan(100);
    expect(sent).toBeLessThan(2_000);
    await vi.waitFor(() => expect(stop).toHaveBeenCalledOnce());
  });

  it('writes the changes of one moment together', async () => {
    const chunks: string[] = [];
    let listener: LiveListener | undefined;
    const stream = eventStream((given) => {
      listener = given;
      return () => {};
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    await vi.waitFor(() => expect(chunks).toHaveLength(1));
    for (const id of ['one', 'two', 'three']) listener?.changed(siteChange(id));
    await vi.waitFor(() => expect(chunks.slice(1).join('')).toContain('three'));
    expect(chunks).toHaveLength(2);
    stream.destroy();
  });

  it('writes server-sent events, and ends with the follower', async () => {
    const stream = eventStream((listener) => {
      listener.resync();
      listener.changed(siteChange('one'));
      listener.ended();
      return () => {};
    });
    const text = Buffer.concat(await stream.toArray()).toString();
    expect(text).toMatch(
      /^retry: \d+\n\nevent: resync\ndata: \{\}\n\nevent: change\ndata: \{.*"id":"one".*\}\n\n$/,
    );
  });
});
