import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CommandError } from './run-command.ts';
import { startProgram, writeTo } from './started-program.ts';

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test('what a program wrote is there, however late it is read', async () => {
  const program = startProgram(['/usr/bin/printf', 'hello']);
  await program.ended.catch(() => {});
  await sleep(50);
  expect(await textOf(program.stdout)).toBe('hello');
});

test('bytes go through as they are, with no more of them held than there is room for', async () => {
  const program = startProgram(['/usr/bin/cat']);
  const read = textOf(program.stdout);
  for (let i = 0; i < 50; i++) await writeTo(program.stdin, Buffer.alloc(100_000, 'x'));
  program.stdin.end();
  expect(await read).toBe('x'.repeat(5_000_000));
  expect(await program.ended).toEqual({ status: 0, stderr: '' });
});

test('reports a failure with the program’s output; allowed exit statuses are no failures', async () => {
  const fail = ['/usr/bin/env', 'ls', '/nowhere/at/all'] as const;
  await expect(startProgram(fail).ended).rejects.toThrow(/nowhere/);
  await expect(startProgram(fail).ended).rejects.toThrow(CommandError);
  expect(await startProgram(fail, { statuses: [2] }).ended).toMatchObject({ status: 2 });
  await expect(startProgram(['/nowhere/program']).ended).rejects.toThrow(/ENOENT/);
});

test('its environment is what is given, and nothing of ours', async () => {
  const program = startProgram(['/usr/bin/env'], { environment: { SECRET: 'x' } });
  const names = (await textOf(program.stdout))
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names.sort()).toEqual(['LC_ALL', 'PATH', 'SECRET']);
});

test('all of its processes are stopped, also those that ignore its end', async () => {
  const script = 'trap "" INT; sleep 60 > /dev/null 2>&1 & echo $!; trap - INT; wait';
  const program = startProgram(['/bin/sh', '-c', script], { ownSession: true });
  const [printed = ''] = await program.stdout.take(1).map(String).toArray();
  await program.stop();
  const stat = `/proc/${printed.trim()}/stat`;
  await expect.poll(() => !existsSync(stat) || readFileSync(stat, 'utf8').includes(' Z ')).toBe(true);
});

test('one that runs is stopped, one that failed says why', async () => {
  const sleeper = startProgram(['/usr/bin/sleep', '60']);
  expect(await sleeper.stop()).toBeNull();
  await expect(sleeper.ended).rejects.toThrow();
  const failed = startProgram(['/usr/bin/ls', '/nowhere/at/all']);
  expect(await failed.stop()).toBeInstanceOf(CommandError);
  await expect(writeTo(failed.stdin, Buffer.from('x'))).rejects.toThrow(/has ended/);
});
