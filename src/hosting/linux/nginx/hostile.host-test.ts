import { once } from 'node:events';
import { chmod, rm, stat, truncate } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HOUR_MS } from '../../../lib/durations.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { Daemons } from '../machine/daemon.ts';
import { runFiles } from './machine-options.ts';
import { siteState, startServer, type TestServer } from './nginx.fixture.ts';
import { createWebServer } from './web-server.ts';
import { workersOf } from './worker-processes.ts';

// Attacks of a customer on one website, which must not affect the others.

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

test('no name of a website takes nginx’s word from the host', async () => {
  const names = ['homeport.invalid', '*.invalid', '*.homeport.invalid', 'localhost', '127.0.0.1'];
  const odd = await server.makeInstall(siteState('odd', names), { php: false });
  const plain = await server.makeInstall(siteState('plain', ['plain.test']), { php: false });
  for (const one of [odd, plain]) await server.write(one.state, 'who.txt', one.state.name);
  await server.web.start([odd]);
  await server.web.put(plain);
  expect((await server.http('homeport.invalid', '/who.txt')).text).toBe('odd');
  expect((await server.http('plain.test', '/who.txt')).text).toBe('plain');
  await server.web.stop();
  const again = createWebServer(server.options);
  await again.start([odd, plain]);
  await again.stop();
});

test('visitors who take their time pile up no processes', async () => {
  const slow = await server.makeInstall(siteState('slow', ['slow.test']), { php: false });
  await truncate(await server.write(slow.state, 'large.bin', ''), 64 * 1024 * 1024);
  await server.web.start([slow]);
  const [nginx] = (await server.daemons.list()).filter(({ name }) => name === 'nginx');
  const workers = async () => (await workersOf(nginx?.pid ?? 0)).all;
  const before = await workers();
  const downloads: Socket[] = [];
  try {
    for (let turn = 0; turn < 5; turn++) {
      downloads.push(await startDownload('slow.test', '/large.bin'));
      const { hostnames } = siteState('x', ['slow.test', `turn-${turn}.test`]);
      await server.web.put({ ...slow, state: { ...slow.state, hostnames } });
    }
    expect(await workers()).toEqual(before);
  } finally {
    for (const download of downloads) download.destroy();
  }
});

/** Asks for a file, and reads no more than the beginning of it. */
async function startDownload(hostname: string, path: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: server.options.edgeHttp.port });
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await once(socket, 'readable');
  return socket;
}

test('only the web server’s workers and root reach its sockets', async () => {
  await server.web.start([]);
  const folder = join(server.layout.runFolder, 'nginx');
  const { stdout } = await runCommand('/usr/bin/stat', ['--format=%U %G %a', folder]);
  expect(stdout.trim()).toBe('root www-data 710');
  const connecting = (uid: string, socket: string) =>
    runCommand('/usr/bin/setpriv', [
      ...[
        `--reuid=${uid}`,
        `--regid=${uid}`,
        '--clear-groups',
        '/usr/bin/curl',
        '--silent',
        '--max-time',
        '5',
      ],
      ...['--unix-socket', socket, '--output', '/dev/null', 'http://x/'],
    ]);
  const { controlSocket, ...run } = runFiles(server.layout);
  for (const socket of [run.storageSocket, run.innerSocket, run.primarySocket, run.statusSocket]) {
    await expect(connecting('www-data', socket)).resolves.toBeDefined();
    for (const stranger of ['65534', '259999']) {
      await expect(connecting(stranger, socket)).rejects.toMatchObject({ status: 7 });
    }
  }
  for (const stranger of ['www-data', '65534', '259999']) {
    await expect(connecting(stranger, controlSocket)).rejects.toMatchObject({ status: 7 });
  }
  await server.web.stop();
  await chmod(folder, 0o711);
  await server.web.start([]);
  expect((await stat(folder)).mode & 0o777).toBe(0o710);
});

test('while nginx does not answer, the host does not look for it ever more often', async () => {
  const { clock } = server;
  let asked = 0;
  let slow = false;
  const daemons: Daemons = {
    ...server.daemons,
    async list() {
      if (slow) await sleep(1_000);
      return server.daemons.list();
    },
  };
  const web = createWebServer({
    ...server.options,
    daemons,
    clock: {
      now() {
        asked++;
        return clock.now();
      },
    },
    lookEveryMs: 10,
    // Each reading asks the clock, too.
    readUsageEveryMs: HOUR_MS,
  });
  await web.start([]);
  slow = true;
  await rm(join(server.layout.nginx, 'current'));
  await sleep(100);
  const before = asked;
  await sleep(700);
  const during = asked - before;
  slow = false;
  await web.stop();
  expect(during).toBeLessThan(5);
});
