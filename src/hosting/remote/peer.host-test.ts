import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listeningLog } from '../embedded/embedded-host.fixture.ts';
import { CommandError, runCommand } from '../linux/machine/run-command.ts';
import { startMachine, type TestMachine } from './embedded-machine.fixture.ts';
import { createHostServer, type HostServer } from './server.ts';

/** No user or group has these ids. */
const STRANGER = 64_321;
const GROUP = 64_322;

let folder: string;
let socket: string;
let machine: TestMachine;
let server: HostServer;

beforeAll(async () => {
  folder = await mkdtemp('/run/hpt-');
  await chmod(folder, 0o755);
  socket = join(folder, 'host.sock');
  machine = await startMachine();
  server = createHostServer({ host: machine.machine, log: listeningLog([]) });
  await server.listenUnix(socket, { gid: GROUP, uids: [STRANGER + 1] });
});

afterAll(async () => {
  await server.close();
  await machine.close();
  await rm(folder, { recursive: true, force: true });
});

/** The status that somebody gets; rejects if the kernel lets nobody in. */
async function statusFor(...who: string[]): Promise<string> {
  const curl = ['curl', '--silent', '--unix-socket', socket, '--data', '{}'];
  const { stdout } = await runCommand('setpriv', [
    ...who,
    ...curl,
    '--output',
    '/dev/null',
    '--write-out',
    '%{http_code}',
    'http://host/v1/describe',
  ]);
  return stdout;
}

/** How curl ends whose connection was closed before it had sent everything, or before it had even looked whose it is (7). */
const CLOSED_EARLY = [7, 55, 56];

/** The status that a stranger gets. Nobody waits for what strangers have to say, so they may find the connection closed instead. */
const refusalFor = (...who: string[]) =>
  statusFor(...who).catch((error: unknown) => {
    if (error instanceof CommandError && CLOSED_EARLY.includes(error.status ?? 0)) return '403';
    throw error;
  });

it('is used by root and by its group, and the kernel keeps others away', async () => {
  expect(await statusFor('--reuid=0')).toBe('200');
  expect(await statusFor(`--reuid=${STRANGER}`, `--regid=${GROUP}`, '--clear-groups')).toBe('200');
  expect(await statusFor(`--reuid=${STRANGER}`, `--regid=${STRANGER}`, `--groups=${GROUP}`)).toBe('200');
  await expect(statusFor(`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups')).rejects.toThrow();
});

it('is no use to others even if the file lets them in', async () => {
  await chmod(socket, 0o666);
  expect(await refusalFor(`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups')).toBe('403');
  // In the user's name, but no member of the group: www-data is none.
  expect(await refusalFor('--reuid=www-data', '--regid=www-data', '--clear-groups')).toBe('403');
  expect(await statusFor(`--reuid=${STRANGER + 1}`, `--regid=${STRANGER}`, '--clear-groups')).toBe('200');
});
