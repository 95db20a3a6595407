import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandError, runCommand } from '../../lib/run-command.ts';
import { listeningLog } from '../embedded/embedded-host.fixture.ts';
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

/** The status that a user gets. Rejects if the kernel refuses the connection. */
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

/** Exit codes of curl if the server closes the connection before curl has sent everything, or at once (7). */
const CLOSED_EARLY = [7, 55, 56];

/** The status that other users get. The server does not wait for their request, so curl may only see a closed connection. */
const refusalFor = (...who: string[]) =>
  statusFor(...who).catch((error: unknown) => {
    if (error instanceof CommandError && CLOSED_EARLY.includes(error.status ?? 0)) return '403';
    throw error;
  });

it('serves root and the group, and the kernel refuses others', async () => {
  expect(await statusFor('--reuid=0')).toBe('200');
  expect(await statusFor(`--reuid=${STRANGER}`, `--regid=${GROUP}`, '--clear-groups')).toBe('200');
  expect(await statusFor(`--reuid=${STRANGER}`, `--regid=${STRANGER}`, `--groups=${GROUP}`)).toBe('200');
  await expect(statusFor(`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups')).rejects.toThrow();
});

it('refuses others even if the file’s permissions allow them', async () => {
  await chmod(socket, 0o666);
  expect(await refusalFor(`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups')).toBe('403');
  // www-data exists in the user database, but is not a member of the group.
  expect(await refusalFor('--reuid=www-data', '--regid=www-data', '--clear-groups')).toBe('403');
  expect(await statusFor(`--reuid=${STRANGER + 1}`, `--regid=${STRANGER}`, '--clear-groups')).toBe('200');
});
