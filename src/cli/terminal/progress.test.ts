import { expect, test } from 'vitest';
import type { SeenJob } from './follow-job.ts';
import { createProgress } from './progress.ts';

const job = (state: SeenJob['state'], changes: Partial<SeenJob> = {}): SeenJob => ({
  state,
  error: null,
  attempt: 0,
  ...changes,
});

function recorded(isTTY: boolean) {
  const written: string[] = [];
  const progress = createProgress('Restoring alpha', { isTTY, write: (text) => written.push(text) });
  return { written, progress };
}

test('away from a terminal, each change is a line, and each half minute', () => {
  const { written, progress } = recorded(false);
  for (const at of [0, 200, 400]) progress.report(job('queued'), at);
  progress.report(job('running', { attempt: 1 }), 1_600);
  progress.report(job('running', { attempt: 1 }), 31_500);
  progress.report(job('running', { attempt: 1 }), 31_600);
  progress.report(job('queued', { attempt: 1, error: 'the disk is full' }), 31_800);
  // Put off, and not counted.
  progress.report(job('queued', { attempt: 0, error: 'no host' }), 32_000);
  progress.end();
  expect(written).toEqual([
    'Restoring alpha: waiting, 0 s\n',
    'Restoring alpha: running, 1 s\n',
    'Restoring alpha: running, 31 s\n',
    'Restoring alpha: waiting for a retry after: the disk is full, 31 s\n',
    'Restoring alpha: waiting for a retry after: no host, 32 s\n',
  ]);
});

test('a download and its amount', () => {
  const progress = {
    done: 12.4 * 1024 * 1024,
    total: 27 * 1024 * 1024,
    unit: 'bytes',
    step: 'wordpress',
  } as const;
  const terminal = recorded(true);
  terminal.progress.report(job('running', { progress }), 2_000);
  expect(terminal.written.join('')).toContain('Restoring alpha: downloading WordPress, 12 of 27 MiB, 2 s');
  const file = recorded(false);
  for (const done of [1, 2]) {
    file.progress.report(job('running', { progress: { ...progress, done, step: null } }), 2_000);
  }
  expect(file.written).toEqual(['Restoring alpha: running, 2 s\n']);
});

test('on a terminal it is one line, cleared at the end', () => {
  const { written, progress } = recorded(true);
  progress.report(job('queued'), 0);
  progress.report(job('running'), 1_200);
  progress.end();
  expect(written.join('')).toBe(
    '\r\u001b[2KRestoring alpha: waiting, 0 s\r\u001b[2KRestoring alpha: running, 1 s\r\u001b[2K',
  );
});
