import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/servers/free-port.ts';
import { answerTo, connectSilently, descriptorsOf, dialogues } from '../test/silent-clients.ts';

/**
 * Descriptors of a server before, during and after silent connections to each of its ports in turn, and whether a client
 * with another address is answered meanwhile. Arguments: connections (2,000 if left out), addresses they come from (20),
 * descriptors that the server may have (1,024), the program (this repository's). Linux.
 */
const [count = '2000', addresses = '20', limit = '1024', program = 'bin/homeport.mjs'] =
  process.argv.slice(2);
const ATTACKERS = Array.from({ length: Number(addresses) }, (_, index) => `127.0.1.${index + 1}`);
const VISITOR = '127.0.0.9';
/** For how long the server is watched after the last connection. */
const WATCHED_S = 90;

const folder = mkdtempSync(join(tmpdir(), 'silent-clients-'));
const ports = {
  api: await freePort(),
  edgeHttp: await freePort(),
  edgeHttps: await freePort(),
  ssh: await freePort(),
};
const command = [
  '/bin/sh',
  '-c',
  `ulimit -n ${Number(limit)}; exec "$@"`,
  'sh',
  process.execPath,
  program,
  'serve',
];
const server = spawn(command[0] ?? '', command.slice(1), {
  env: {
    PATH: process.env.PATH,
    HOMEPORT_DATA_DIR: folder,
    HOMEPORT_LISTEN: `127.0.0.1:${ports.api}`,
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${ports.edgeHttp}`,
    HOMEPORT_EDGE_HTTPS: `127.0.0.1:${ports.edgeHttps}`,
    HOMEPORT_SSH_LISTEN: `127.0.0.1:${ports.ssh}`,
  },
  stdio: ['ignore', 'pipe', 'ignore'],
});
const ended = new Promise((resolve) => server.once('close', resolve));
try {
  await new Promise<void>((resolve, reject) => {
    let printed = '';
    server.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('Ctrl-C ends it.')) resolve();
    });
    void ended.then(() => reject(new Error('the server ended')));
  });
  for (const [name, dialogue] of Object.entries(dialogues(ports))) {
    await answerTo(dialogue, VISITOR);
    await sleep(1_000);
    const before = await descriptorsOf(server.pid ?? 0);
    const clients = await connectSilently(dialogue.port, { count: Number(count), addresses: ATTACKERS });
    const during = await descriptorsOf(server.pid ?? 0);
    const asked = performance.now();
    const answer = await Promise.race([answerTo(dialogue, VISITOR), sleep(10_000, '')]);
    const tookMs = Math.round(performance.now() - asked);
    const answered = dialogue.answer.test(answer) ? `answered after ${tookMs} ms` : 'NOT answered';
    const begun = performance.now();
    let after = await descriptorsOf(server.pid ?? 0);
    while (after > before + 5 && performance.now() - begun < WATCHED_S * 1_000) {
      await sleep(250);
      after = await descriptorsOf(server.pid ?? 0);
    }
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    process.stdout.write(
      `${name}: ${before} before, ${during} with ${count} silent connections, ${after} after ${seconds} s; another address ${answered}\n`,
    );
    clients.end();
    await sleep(1_000);
  }
} finally {
  server.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
