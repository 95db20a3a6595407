import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startSandbox } from './start-sandbox.ts';

test('keeps the output of a program that ends before anyone reads', async () => {
  const command: [string, ...string[]] = ['sh', '-c', 'echo output; echo complaint >&2'];
  const started = await startSandbox({ command, descriptors: [] }, '/dev/null');
  expect(await started.ended).toBe(0);
  expect([await text(started.stdout), await text(started.stderr)]).toEqual(['output\n', 'complaint\n']);
});
