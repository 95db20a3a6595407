import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { checkDescriptors } from './descriptors.ts';

test.runIf(process.platform === 'linux')('a low limit of the running server is a warning', async () => {
  const server = spawn('/bin/sh', ['-c', 'ulimit -n 512; echo ready; exec cat'], { stdio: 'pipe' });
  await once(server.stdout, 'data');
  expect(checkDescriptors([server.pid ?? 0])).toEqual({
    check: 'open files',
    state: 'warning',
    message:
      'A server may open 512 files, so it takes 64 connections to the API, 128 to websites and 64 by SFTP.',
    remedy: expect.stringContaining('LimitNOFILE'),
  });
  server.stdin.end();
  await once(server, 'close');
});

test('a server that has just ended, and none at all', () => {
  expect(checkDescriptors([]).check).toBe('open files');
  // Above what Linux gives out as a process id.
  expect(checkDescriptors([2 ** 22 + 1])).toEqual(checkDescriptors([]));
});
