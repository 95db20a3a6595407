import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '../test/servers/free-port.ts';
import { answerTo, connectSilently, descriptorsOf, dialogues } from '../test/silent-clients.ts';
import { createReport, REPORT_OPTIONS } from './measure/report.ts';

/**
 * Descriptors of a server before, during and after silent connections to each of its ports, and the time until a client with another
 * address gets an answer meanwhile. Arguments: connections (default 2,000), their addresses (20), the server's descriptor limit (1,024), the
 * program (this repository's). Linux only.
 */
const [count = '2000', addresses = '20', limit = '1024', program = 'bin/homeport.mjs'] = parseArgs({
  options: REPORT_OPTIONS,
  allowPositionals: true,
}).positionals;
const report = createReport('silent-clients');
const ATTACKERS = Array.from({ length: Number(addresses) }, (_, index) => `127.0.1.${index + 1}`);
const VISITOR = '127.0.0.9';
/** Time that the server is watched after the last connection. */
const WATCHED_S = 90;
/** Descriptors that the server may open itself meanwhile. */
const LEFT_OPEN = 5;
/** Timeout for a response. */
const ANSWER_MS = 10_000;

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
    HOMEPORT_EMBEDDED_PHP_MB: '0',
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
  report.part(`${count} silent connections to each server`);
  for (const [name, dialogue] of Object.entries(dialogues(ports))) {
    await answerTo(dialogue, VISITOR);
    await sleep(1_000);
    const before = await descriptorsOf(server.pid ?? 0);
    const clients = await connectSilently(dialogue.port, { count: Number(count), addresses: ATTACKERS });
    const during = await descriptorsOf(server.pid ?? 0);
    const asked = performance.now();
    const answer = await Promise.race([answerTo(dialogue, VISITOR), sleep(ANSWER_MS, '')]);
    const tookMs = Math.round(performance.now() - asked);
    const answered = dialogue.answer.test(answer);
    const begun = performance.now();
    let after = await descriptorsOf(server.pid ?? 0);
    while (after > before + LEFT_OPEN && performance.now() - begun < WATCHED_S * 1_000) {
      await sleep(250);
      after = await descriptorsOf(server.pid ?? 0);
    }
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    report.figure({
      what: `${name}: descriptors that stay open`,
      value: after - before,
      unit: 'count',
      measured: `${before} before, ${during} with ${count} silent connections, ${after} after ${seconds} s`,
      goal: { atMost: LEFT_OPEN },
    });
    report.figure({
      what: `${name}: answer to another address`,
      value: answered ? tookMs : ANSWER_MS,
      unit: 'ms',
      measured: answered ? '' : 'no answer',
      goal: { atMost: ANSWER_MS - 1 },
    });
    clients.end();
    await sleep(1_000);
  }
  report.end();
  report.finish();
} finally {
  server.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
