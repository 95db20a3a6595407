import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import { afterEach, describe, expect, test } from 'vitest';
import { processGroupOf } from '../../../test/process-group.ts';
import { cases, rounds } from '../../../test/rounds.ts';
import { runs } from '../running-process.ts';
import {
  createIsolatedProcess,
  type IsolatedProcess,
  type IsolatedProcessOptions,
} from './isolated-process.ts';
import { isolatedTask, type TaskFunction } from './isolated-task.ts';

type Tasks = typeof import('./tasks.fixture.ts');

/** A task of the fixture by its name. */
function task<Name extends keyof Tasks>(name: Name) {
  return isolatedTask<Tasks[Name]>(new URL('./tasks.fixture.ts', import.meta.url), name);
}

let isolated: IsolatedProcess;
function start(options: Partial<IsolatedProcessOptions> = {}): IsolatedProcess {
  isolated = createIsolatedProcess({ memoryMb: 160, limitMs: 60_000, maxBytes: 1024 * 1024, ...options });
  return isolated;
}
afterEach(() => isolated.close());

const pid = () => isolated.run(task('pid'), null);

test('answers from another process, which stays', async () => {
  start();
  expect(await isolated.run(task('add'), { a: 1, b: 2 })).toBe(3);
  const own = await pid();
  expect(own).not.toBe(process.pid);
  expect(await pid()).toBe(own);
  // A separate process group, which a Ctrl-C on the terminal does not reach.
  expect(processGroupOf(own)).toBe(own);
});

test('ends when it has had no task for a while, and the next task starts it again', async () => {
  start({ idleMs: 1 });
  const first = await pid();
  await expect.poll(() => runs(first)).toBe(false);
  expect(await pid()).not.toBe(first);
});

// The process group of the first test keeps a Ctrl-C away.
test.each(rounds(['SIGKILL'] as const, ['SIGKILL', 'SIGINT'] as const))(
  'ends with the platform, also by %s',
  async (signal) => {
    start();
    const script = fileURLToPath(new URL('./print-pid.fixture.ts', import.meta.url));
    const platform = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [printed] = await once(platform.stdout, 'data');
    const own = Number(String(printed));
    expect(runs(own)).toBe(true);
    platform.kill(signal);
    await expect.poll(() => runs(own)).toBe(false);
  },
);

test('passes on what a task throws', async () => {
  start();
  await expect(isolated.run(task('fail'), 'no')).rejects.toThrow(new RangeError('no'));
});

test('sees no secrets of the environment', async () => {
  start();
  process.env.HOMEPORT_SECRET_OF_TEST = 'secret';
  expect(await isolated.run(task('environment'), null)).not.toContain('HOMEPORT_SECRET_OF_TEST');
  delete process.env.HOMEPORT_SECRET_OF_TEST;
});

test('tells the task of an abort', async () => {
  start();
  const controller = new AbortController();
  const waiting = isolated.run(task('untilAborted'), null, { signal: controller.signal });
  await pid();
  controller.abort();
  expect(await waiting).toBe('aborted');
  expect(await isolated.run(task('untilAborted'), null, { signal: AbortSignal.abort() })).toBe('aborted');
});

describe('a task that kills the process', () => {
  const kinds: ['crash' | 'fillHeap' | 'fillMemory', string][] = [
    ['crash', 'crash'],
    ['fillHeap', 'memory'],
    ['fillMemory', 'memory'],
  ];
  // The next test has a crash.
  test.each(cases(['fillHeap'], kinds))(
    'by %s is lost with the reason %s, and others go on',
    async (name, reason) => {
      start();
      const deadly = isolated.run(task(name), null).catch((error: unknown) => error);
      // Some run beside it and die with it, some after it.
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
      const others = await Promise.all(numbers.map((number) => isolated.run(task('slowly'), number)));
      expect(others).toEqual(numbers);
      expect(await deadly).toMatchObject({ name: 'IsolatedTaskLost', reason });
      expect(await isolated.run(task('add'), { a: 2, b: 2 })).toBe(4);
    },
  );

  test('is found among others that do so too', async () => {
    start();
    const outcomes = await Promise.allSettled(
      [0, 1, 2, 3, 4, 5].map((number) =>
        number % 3 === 0 ? isolated.run(task('crash'), null) : isolated.run(task('slowly'), number),
      ),
    );
    const fates = outcomes.map((one) => (one.status === 'fulfilled' ? one.value : 'lost'));
    expect(fates).toEqual(['lost', 1, 2, 'lost', 4, 5]);
  });

  test('by blocking it is lost after its time, and others go on', async () => {
    start();
    await pid();
    const deadly = isolated.run(task('block'), null, { limitMs: 200 }).catch((error: unknown) => error);
    expect(await isolated.run(task('slowly'), 5)).toBe(5);
    expect(await deadly).toMatchObject({ name: 'IsolatedTaskLost', reason: 'time' });
  });

  test.runIf(process.platform === 'linux')('is not lost because the machine stood still', async () => {
    start();
    expect(await isolated.run(task('standStill'), 0.5, { limitMs: 400 })).toBe('awake');
  });

  const message = (body: Uint8Array) => Buffer.concat([Buffer.from([0, 0, 0, body.length]), body]);
  const nonsense: [string, Buffer][] = [
    ['a huge length', Buffer.alloc(8, 0xff)],
    ['no value', message(Buffer.from('nonsense'))],
    ['another value', message(serialize(null))],
    ['another answer', message(serialize({ id: 1, kind: 'returned', value: Buffer.from('x') }))],
  ];
  test.each(cases(['a huge length', 'another answer'], nonsense))(
    'by sending %s is lost, and others go on',
    async (_what, bytes) => {
      start();
      const deadly = isolated.run(task('sendNonsense'), bytes).catch((error: unknown) => error);
      expect(await isolated.run(task('slowly'), 6)).toBe(6);
      expect(await deadly).toMatchObject({ name: 'IsolatedTaskLost', reason: 'crash' });
    },
  );

  test('is named in the error', async () => {
    start();
    await expect(isolated.run(task('crash'), null)).rejects.toThrow(
      'The isolated task crash ended its process: SIGSEGV.',
    );
  });
});

test('rejects tasks if no process starts', async () => {
  start();
  const { execPath } = process;
  process.execPath = '/nonexistent/node';
  try {
    const missing = await pid().catch((error: unknown) => error);
    expect(missing).toMatchObject({
      reason: 'start',
      message: expect.stringMatching(
        /The isolated task pid found no process: it could not be started \(.*ENOENT\)/,
      ),
    });
  } finally {
    process.execPath = execPath;
  }
  expect(await pid()).toBeGreaterThan(0);
});

test('bounds inputs and outputs', async () => {
  start({ maxBytes: 1_000 });
  const huge = { text: 'x'.repeat(1_001), times: 1 };
  await expect(isolated.run(task('repeat'), huge)).rejects.toMatchObject({ reason: 'too_large' });
  const growing = { text: 'x', times: 1_001 };
  await expect(isolated.run(task('repeat'), growing)).rejects.toMatchObject({ reason: 'too_large' });
  expect(await isolated.run(task('repeat'), { text: 'x', times: 3 })).toBe('xxx');
});

test('runs no more tasks at once than allowed', async () => {
  start({ concurrency: 2 });
  const controller = new AbortController();
  const blocked = [1, 2].map(() => isolated.run(task('untilAborted'), null, { signal: controller.signal }));
  let hasRun = false;
  const third = pid().then(() => (hasRun = true));
  await pause(100);
  expect(hasRun).toBe(false);
  controller.abort();
  await Promise.all([...blocked, third]);
});

test('loses its tasks when it is closed', async () => {
  start();
  await pid();
  const waiting = isolated.run(task('untilAborted'), null);
  isolated.close();
  await expect(waiting).rejects.toMatchObject({ name: 'IsolatedTaskLost' });
});

test('types a task by its function', () => {
  const add: { readonly types?: TaskFunction<{ a: number; b: number }, number> } = task('add');
  expect(add).toMatchObject({ name: 'add' });
});
