import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const module = JSON.stringify(join(import.meta.dirname, 'log.ts'));

/** Runs a script that has `log`. */
function logging(script: string, environment: Record<string, string> = {}) {
  const source = `import { createLog } from ${module}; const log = await createLog({ logLevel: 'info' }); ${script}`;
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  });
}

const messages = (lines: string): string[] =>
  lines
    .trim()
    .split('\n')
    .map((line) => String(JSON.parse(line).msg));

const UNTIL_TOLD = `process.stdin.resume();`;

it('writes lines of a process that goes on', async () => {
  const child = logging(`log.info('one'); ${UNTIL_TOLD}`);
  const [chunk] = await once(child.stderr, 'data');
  expect(messages(String(chunk))).toEqual(['one']);
  child.stdin.end();
  await once(child, 'exit');
});

it('writes warnings at once, after the lines before them', async () => {
  const child = logging(`log.info('one'); log.warn('two'); for (;;) ;`);
  let seen = '';
  for await (const chunk of child.stderr) {
    seen += chunk;
    if (seen.includes('two')) break;
  }
  child.kill('SIGKILL');
  expect(messages(seen)).toEqual(['one', 'two']);
});

it('loses no warning when the process crashes', async () => {
  const child = logging(`log.info('one'); log.error('two'); process.kill(process.pid, 'SIGKILL');`);
  expect(messages(await text(child.stderr))).toEqual(['one', 'two']);
});

it('goes on if no one reads the log', async () => {
  const child = logging(
    `process.stdin.once('end', () => { log.warn('one'); log.info('two'); process.exit(3); }).resume();`,
  );
  child.stderr.destroy();
  await once(child.stderr, 'close');
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([3, null]);
});

it('loses no line when the process exits', async () => {
  const child = logging(`for (let line = 0; line < 200; line++) log.info(String(line)); process.exit(0);`);
  // A batch that was being written at that time can come last.
  const numbers = messages(await text(child.stderr)).map(Number);
  expect(numbers.sort((one, other) => one - other)).toEqual(Array.from({ length: 200 }, (_, line) => line));
});

it('hides secret fields', async () => {
  const child = logging(`log.info({ password: 'p1', request: { token: 't1' } }, 'one'); process.exit(0);`);
  const lines = await text(child.stderr);
  expect(lines).toContain('[secret]');
  expect(lines).not.toMatch(/p1|t1/);
});

it('names commands of this installation in messages, reasons and remedies', async () => {
  const script = `log.warn({ reason: '"homeport a b" c', remedy: 'Run: homeport d e', err: new Error('"homeport f g"') }, '"homeport h i"');`;
  const lines = await text(logging(`${script} process.exit(0);`, { HOMEPORT_COMMAND: 'RUN' }).stderr);
  for (const words of ['a b', 'd e', 'f g', 'h i']) expect(lines).toContain(`RUN ${words}`);
  expect(lines).not.toContain('homeport ');
});

it('listens for the end of the process once, however many logs it has', async () => {
  const child = logging(`for (let made = 0; made < 20; made++) await createLog({ logLevel: 'info' });
log.info(String(process.listenerCount('exit') < 5)); process.exit(0);`);
  expect(messages(await text(child.stderr))).toEqual(['true']);
});
