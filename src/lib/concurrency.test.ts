import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  allDone,
  batchUnderLock,
  coalesce,
  mapAhead,
  mapConcurrent,
  repeatEvery,
  serializeByKey,
  singleFlight,
  tryWithin,
  untilAborted,
} from './concurrency.ts';

describe('serializeByKey', () => {
  it('runs one key in call order and other keys side by side, past failures', async () => {
    const serially = serializeByKey();
    const log: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = serially('a', async () => {
      await gate.promise;
      log.push('first');
      throw new Error('no');
    });
    const second = serially('a', async () => log.push('second'));
    await serially('b', async () => log.push('other key'));
    gate.resolve();
    await expect(first).rejects.toThrow('no');
    await second;
    expect(log).toEqual(['other key', 'first', 'second']);
  });
});

describe('mapAhead', () => {
  const fails = async (item: number) => {
    if (item === 3) throw new Error('three');
    return -item;
  };

  it('keeps the order, and begins no more than so many further items', async () => {
    const begun: number[] = [];
    const results: number[] = [];
    const mapped = mapAhead([1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      await pause(item === 1 ? 20 : 0);
      return -item;
    });
    for await (const result of mapped) {
      results.push(result);
      expect(begun).toEqual([1, 2, 3, 4, 5].slice(0, results.length + 2));
    }
    expect(results).toEqual([-1, -2, -3, -4, -5]);
  });

  it('throws a failure in its turn, and none if the caller has stopped', async () => {
    const results: number[] = [];
    const all = async (last: number) => {
      for await (const result of mapAhead([1, 2, 3], 2, fails)) {
        results.push(result);
        if (result === last) return;
      }
    };
    await all(-1);
    await expect(all(-9)).rejects.toThrow('three');
    expect(results).toEqual([-1, -1, -2]);
  });
});

describe('tryWithin', () => {
  const serially = serializeByKey();
  const lockOf = (key: string) => (work: () => Promise<void>) => serially(key, work);

  it('runs work whose lock is acquired in time, however long it takes', async () => {
    const earlier = serially('one', () => pause(20));
    const result = tryWithin(20_000, lockOf('one'), async () => {
      await pause(50);
      return 'done';
    });
    expect(await result).toBe('done');
    await earlier;
    expect(await tryWithin(20, lockOf('one'), () => pause(60, 'done too'))).toBe('done too');
  });

  it('never starts work after the timeout', async () => {
    let begun = false;
    const held = Promise.withResolvers<void>();
    const earlier = serially('two', () => held.promise);
    const result = await tryWithin(20, lockOf('two'), async () => {
      begun = true;
    });
    expect(result).toBeNull();
    held.resolve();
    await earlier;
    await serially('two', async () => {});
    expect(begun).toBe(false);
  });

  it('rejects with the failure of the work', async () => {
    const failing = tryWithin(20_000, lockOf('three'), () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
  });
});

describe('batchUnderLock', () => {
  function counted(acquire: () => Promise<void> = async () => {}) {
    const seen: string[] = [];
    let acquired = 0;
    const run = batchUnderLock(async (work) => {
      acquired += 1;
      await acquire();
      await work();
    });
    const slow = (name: string) => async () => {
      seen.push(`${name} in`);
      await pause(5);
      seen.push(`${name} out`);
      return name;
    };
    return { run, slow, seen, acquired: () => acquired };
  }

  it('runs waiting work one by one in one acquisition', async () => {
    const { run, slow, seen, acquired } = counted();
    expect(await Promise.all([run(slow('a')), run(slow('b')), run(slow('c'))])).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
    expect(acquired()).toBeLessThanOrEqual(2);
    expect(await run(slow('d'))).toBe('d');
  });

  it('rejects only the work that fails', async () => {
    const { run, slow } = counted();
    const failing = run(() => Promise.reject(new Error('this one')));
    const other = run(slow('other'));
    await expect(failing).rejects.toThrow('this one');
    expect(await other).toBe('other');
  });

  it('rejects all waiting work if the lock fails, and recovers with the next call', async () => {
    let isHeld = true;
    const { run, slow } = counted(async () => {
      if (isHeld) throw new Error('the lock is held');
    });
    const outcomes = await Promise.allSettled([run(slow('a')), run(slow('b'))]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isHeld = false;
    expect(await run(slow('c'))).toBe('c');
  });
});

it('singleFlight shares the current run and its failure, then starts afresh', async () => {
  const gates: PromiseWithResolvers<string>[] = [];
  const run = singleFlight(() => {
    const gate = Promise.withResolvers<string>();
    gates.push(gate);
    return gate.promise;
  });
  const shared = Promise.allSettled([run(), run()]);
  expect(gates).toHaveLength(1);
  gates[0]?.reject(new Error('no'));
  expect((await shared).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = run();
  expect(gates).toHaveLength(2);
  gates[1]?.resolve('yes');
  expect(await next).toBe('yes');
});

describe('coalesce', () => {
  it('lets calls during a run share one further run', async () => {
    const gates: (() => void)[] = [];
    const run = coalesce(() => new Promise<void>((resolve) => gates.push(resolve)));
    const first = run();
    const second = run();
    const third = run();
    expect(gates).toHaveLength(1);
    let secondDone = false;
    void second.then(() => {
      secondDone = true;
    });
    gates[0]?.();
    await first;
    await nextTurn();
    expect(gates).toHaveLength(2);
    expect(secondDone).toBe(false);
    gates[1]?.();
    await Promise.all([second, third]);
    void run();
    expect(gates).toHaveLength(3);
  });

  it('keeps the failure of a run from the callers of the next', async () => {
    let runs = 0;
    const run = coalesce(async () => {
      runs += 1;
      await nextTurn();
      if (runs === 1) throw new Error('no');
    });
    const outcomes = await Promise.allSettled([run(), run()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});

describe('mapConcurrent', () => {
  it('keeps the order and never exceeds the concurrency', async () => {
    let running = 0;
    let most = 0;
    const results = await mapConcurrent([5, 4, 3, 2, 1, 0], 2, async (n) => {
      running += 1;
      most = Math.max(most, running);
      await pause(n);
      running -= 1;
      return n * 10;
    });
    expect(results).toEqual([50, 40, 30, 20, 10, 0]);
    expect(most).toBe(2);
    expect(await mapConcurrent([], 2, async () => 1)).toEqual([]);
  });

  it('rejects with the first failure, once every item is done', async () => {
    const done: number[] = [];
    const work = mapConcurrent([1, 2, 3, 4], 2, async (n) => {
      await nextTurn();
      done.push(n);
      if (n % 2 === 1) throw new Error(`item ${n}`);
    });
    await expect(work).rejects.toThrow('item 1');
    expect(done).toEqual([1, 2, 3, 4]);
  });
});

it('allDone rejects only once the other promise is settled', async () => {
  const other = Promise.withResolvers<string>();
  let failure: unknown;
  const both = allDone([Promise.reject(new Error('no')), other.promise]).catch((error: unknown) => {
    failure = error;
  });
  await nextTurn();
  expect(failure).toBeUndefined();
  other.resolve('yes');
  await both;
  expect(failure).toEqual(new Error('no'));
  expect(await allDone([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two']);
});

it('untilAborted gives up work that goes on for others', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const stopping = new AbortController();
  const given = untilAborted(promise, stopping.signal);
  stopping.abort(new Error('stopping'));
  await expect(given).rejects.toThrow('stopping');
  await expect(untilAborted(promise, stopping.signal)).rejects.toThrow('stopping');
  resolve('done');
  expect(await untilAborted(promise, new AbortController().signal)).toBe('done');
});

describe('repeatEvery', () => {
  it('never overlaps, survives failures and stops after the current run', async () => {
    let running = 0;
    let runs = 0;
    const errors: unknown[] = [];
    const repetition = repeatEvery(
      async () => {
        expect(++running).toBe(1);
        await nextTurn();
        running--;
        if (++runs === 1) throw new Error('no');
      },
      { delayMs: () => 1, onError: (error) => errors.push(error), immediately: true },
    );
    expect(running).toBe(1);
    await vi.waitUntil(() => runs >= 3, { timeout: 20_000 });
    await repetition.stop();
    expect(errors).toEqual([new Error('no')]);
    const after = runs;
    await pause(20);
    expect(runs).toBe(after);
  });

  it('waits for the first delay unless told to start immediately', async () => {
    let runs = 0;
    const repetition = repeatEvery(async () => void runs++, { delayMs: 60_000, onError: () => {} });
    await repetition.stop();
    expect(runs).toBe(0);
  });
});
