import { once } from 'node:events';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentFor, type Running, serve } from '../../../../test/cli/run-homeport.ts';
import { type DatabasePlace, databasePlace } from '../../../../test/database.ts';
import { rounds } from '../../../../test/rounds.ts';
import { freePort } from '../../../../test/servers/free-port.ts';
import { systemClock } from '../../../lib/clock.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { requireSshBanner } from '../ssh/banner.ts';
import { createSshServer, type SshServer } from '../ssh/ssh-server.ts';
import { asUser } from './sandbox.ts';
import { createTwoWebsites, type TwoWebsites } from './two-websites.fixture.ts';

const KILLS = rounds(1, 20);
/** How often the tenant tries each address while a daemon is down. */
const ATTEMPTS = 5;

/** Tries to listen on each port until the file `stop` appears. Arguments: its folder, then ports. */
const TAKE_PORTS = `<?php
error_reporting(0);
[, $folder] = $argv;
$held = [];
while (!file_exists("$folder/stop")) {
  foreach (array_slice($argv, 2) as $port) {
    foreach (['0.0.0.0', '127.0.0.1', '[::]', '[::1]'] as $address) {
      foreach (['tcp' => STREAM_SERVER_BIND | STREAM_SERVER_LISTEN, 'udp' => STREAM_SERVER_BIND] as $protocol => $flags) {
        $context = stream_context_create(['socket' => ['so_reuseport' => true, 'ipv6_v6only' => true]]);
        $socket = stream_socket_server("$protocol://$address:$port", $errno, $error, $flags, $context);
        if (!$socket) continue;
        $held[] = $socket;
        file_put_contents("$folder/taken", "$protocol $address\\n", FILE_APPEND);
      }
    }
  }
  file_put_contents("$folder/attempts-" . getmypid(), '.', FILE_APPEND);
}
`;

let both: TwoWebsites;
let place: DatabasePlace;
let ssh: SshServer;
let api: Running;
let environment: Record<string, string>;
let folder: string;
const ports = { ssh: 0, api: 0 };

beforeAll(async () => {
  both = await createTwoWebsites();
  place = await databasePlace();
  environment = await environmentFor(place);
  ports.api = Number(environment.HOMEPORT_LISTEN?.split(':').at(-1));
  ports.ssh = await freePort();
  folder = both.layout.privateOf(both.attacker.install.id);
  await writeFile(join(folder, 'take-ports.php'), TAKE_PORTS, { mode: 0o644 });
  ssh = createSshServer({
    layout: both.layout,
    daemons: both.daemons,
    cgroups: both.cgroups,
    listen: { host: '127.0.0.1', port: ports.ssh },
    questions: { sshLogin: async () => null, sshRelay: async () => null },
    relays: { has: () => false, uid: async () => null },
    installOf: () => null,
    log: pino({ level: 'silent' }),
    clock: systemClock,
  });
  await ssh.start();
  api = await serve(environment);
});

afterAll(async () => {
  api?.process.kill('SIGKILL');
  await api?.ended;
  await ssh?.stop();
  await both?.remove();
  await place?.remove();
});

const taken = () => ifThere(readFile(join(folder, 'taken'), 'utf8'));

/** Rounds through all addresses that the slowest loop has completed; 0 until both have begun. */
async function attempts(): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('attempts-'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.length < 2 ? 0 : Math.min(...sizes);
}

async function apiStatus(): Promise<number | undefined> {
  const at = { host: '127.0.0.1', port: ports.api, path: '/v1/status', rejectUnauthorized: false };
  const asked = get({ ...at, agent: false });
  const [answer] = await once(asked, 'response');
  if (!(answer instanceof IncomingMessage)) throw new Error('the API gave no answer');
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode;
}

const loop = (...to: number[]) => ['php', join(folder, 'take-ports.php'), folder, ...to.map(String)];

test('a tenant gets neither the API’s port nor SSH’s while both are killed repeatedly', async () => {
  // The same program takes a port if run by the same user outside of the sandbox.
  const [file, ...args] = asUser(both.attacker.install, ['timeout', '60', ...loop(await freePort())]);
  const free = runCommand(file, args);
  await expect.poll(taken).toMatch(/^tcp 0\.0\.0\.0$/m);
  await writeFile(join(folder, 'stop'), '');
  await free;
  for (const name of ['stop', 'taken']) await rm(join(folder, name));
  for (const name of await readdir(folder)) if (name.startsWith('attempts')) await rm(join(folder, name));

  const background = `${loop(ports.api, ports.ssh).join(' ')} > /dev/null 2>&1 &`;
  await both.run(both.attacker, `shell('${background}'); return shell('${background}');`);
  await expect.poll(attempts).toBeGreaterThan(0);
  for (let kill = 1; kill <= KILLS; kill++) {
    const sshd = (await both.daemons.list()).find(({ name }) => name === 'sshd')?.pid;
    if (typeof sshd === 'number') process.kill(sshd, 'SIGKILL');
    api.process.kill('SIGKILL');
    await api.ended;
    const before = await attempts();
    await expect.poll(attempts).toBeGreaterThan(before + ATTEMPTS);

    await both.daemons.restart('sshd');
    api = await serve(environment);
    await requireSshBanner({ host: '127.0.0.1', port: ports.ssh });
    expect(await apiStatus(), `kill ${kill}`).toBe(200);
    expect(await taken(), `kill ${kill}`).toBeNull();
  }
  await writeFile(join(folder, 'stop'), '');
}, 600_000);
