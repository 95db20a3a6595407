import { expect, it } from 'vitest';
import { MOST_OUTPUT_BYTES } from '../../contract/wp-cli.ts';
import { type RunningCommand, runBounded, type TakeOutput } from './run-bounded.ts';

/** A command that runs until it is killed, if `write` does not say how it ends. */
function command(write: (take: TakeOutput, end: (status: number) => void) => void) {
  const killed: string[] = [];
  const start = (take: TakeOutput): RunningCommand => {
    const { promise: ended, resolve } = Promise.withResolvers<number>();
    write(take, resolve);
    return {
      ended,
      kill() {
        killed.push('killed');
        resolve(137);
      },
    };
  };
  return { start, killed };
}

it('returns the status and both outputs, cut between two characters', async () => {
  const { start } = command((take, end) => {
    const half = Buffer.from('é'.repeat(MOST_OUTPUT_BYTES / 4));
    take.stdout(Buffer.concat([Buffer.from('x'), half]));
    take.stdout(half);
    take.stderr(Buffer.from('wrong'));
    end(3);
  });
  const outcome = await runBounded(start, {});
  expect(outcome).toMatchObject({
    exitStatus: 3,
    stderr: 'wrong',
    stdoutTruncated: true,
    stderrTruncated: false,
  });
  if ('refused' in outcome) throw new Error(outcome.reason);
  expect(outcome.stdout).toBe(`x${'é'.repeat(MOST_OUTPUT_BYTES / 2 - 1)}`);
});

it('ends a command that writes too much, or takes too long', async () => {
  const flood = command((take) => {
    for (let count = 0; count < 65; count++) take.stderr(Buffer.alloc(1024 * 1024));
  });
  expect(await runBounded(flood.start, {})).toMatchObject({ refused: 'output' });
  const endless = command(() => {});
  expect(await runBounded(endless.start, { withinMs: 1 })).toMatchObject({ refused: 'time' });
  expect([flood.killed, endless.killed]).toEqual([['killed'], ['killed']]);
});

it('ends a command whose caller has gone, and starts none for a caller who has', async () => {
  const caller = new AbortController();
  const endless = command(() => {});
  const running = runBounded(endless.start, { signal: caller.signal });
  caller.abort(new Error('gone'));
  await expect(running).rejects.toThrow('gone');
  expect(endless.killed).toEqual(['killed']);
  const late = command(() => {
    throw new Error('started');
  });
  await expect(runBounded(late.start, { signal: caller.signal })).rejects.toThrow('gone');
});
