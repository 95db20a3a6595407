import { pino } from 'pino';
import { expect, test } from 'vitest';
import { CommandError, runCommand } from '../../../lib/run-command.ts';

const write = (bytes: number) => [
  '-c',
  `head -c ${bytes} /dev/zero | tr '\\0' x >&2; echo the end >&2; exit 3`,
];

test('a message has the end of what a program wrote, however much that is', async () => {
  const failed = await runCommand('/bin/sh', write(1_000_000)).catch((error: unknown) => error);
  if (!(failed instanceof CommandError)) throw new Error('it did not fail');
  expect(failed.status).toBe(3);
  expect(failed.message).toMatch(/^\/bin\/sh failed: x+the end$/);
  const logged: string[] = [];
  pino({}, { write: (line: string) => logged.push(line) }).warn({ err: failed }, 'it failed');
  expect(logged.join('').length).toBeLessThan(15_000);
  expect(failed.stderr.length).toBeGreaterThan(1_000_000);
});
