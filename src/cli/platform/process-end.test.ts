import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const moduleFile = fileURLToPath(new URL('./process-end.ts', import.meta.url));

/** Runs a program that imports the module and `pino`. */
async function run(code: string) {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      `import { pino } from 'pino'; import { endSoon, killAfter } from '${moduleFile}';
      const log = pino(pino.destination({ dest: 1, sync: true })); ${code}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], cwd: import.meta.dirname },
  );
  const ended = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
}

test('a process that is busy for ever is killed', async () => {
  expect(await run('killAfter(100, log); for (;;);')).toEqual({
    code: null,
    signal: 'SIGKILL',
    stdout: '',
    stderr: 'homeport: the stop did not end within 0.1 s, so the process was killed\n',
  });
});

test('a process that has ended is not kept alive by what would kill it', async () => {
  expect(await run('killAfter(600_000, log);')).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
});

test('an open listener does not keep the process, and the log names it', async () => {
  const { code, stdout } = await run(`
    import { createServer } from 'node:net';
    createServer().listen(0, '127.0.0.1');
    endSoon(log);`);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ open: expect.arrayContaining(['TCPServerWrap']) });
});

test('a process with nothing open ends without a word', async () => {
  expect(await run('endSoon(log);')).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
});
