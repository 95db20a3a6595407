// Runs the README's first command with npm versions, each in a clean clone and without development packages, which `npm start` does not
// need. Runs on Node 20, without a dependency.
//
//   npm-versions.mjs REPORT [VERSION ...]
//
// Without a version, it takes the oldest: each costs 50 s of a processor, and CI has installed everything with the npm of its machine.
// Writes REPORT in the form of vitest's JSON reports, which results.mjs reads. Ends with 1 if a check failed.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** That of Debian 12 and 13. */
const OLDEST = '9.2.0';
/** Only a start that hangs takes so long. */
const PATIENCE_MS = 300_000;
const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));

const run = promisify(execFile);
const output = { maxBuffer: 64 * 1024 * 1024 };

/** The checks by name, in order. Each gets the findings of earlier ones. The first failure ends the run. */
const CHECKS = {
  'npm ci leaves a clean clone': async ({ npm, clone }) => {
    await run('git', ['clone', '--quiet', REPOSITORY, clone]);
    // The cache has what the first `npm ci` downloaded.
    await npm('ci', '--omit=dev', '--loglevel=error', '--prefer-offline', '--no-audit');
    const { stdout } = await run('git', ['status', '--porcelain'], { cwd: clone });
    if (stdout !== '') throw new Error(`changed in the clone:\n${stdout}`);
  },
  'npm exec homeport runs': async ({ npm }) => {
    const { stdout } = await npm('exec', '--', 'homeport', '--version');
    if (!/^\d+\.\d+\.\d+.* \(.*schema \d{4}-.*\)$/m.test(stdout)) throw new Error(`printed "${stdout}"`);
  },
  'npm start answers over HTTPS': async (trial) => {
    trial.server = await start(trial);
    const ca = readFileSync(join(trial.data, 'tls', 'api.crt'));
    const answer = (path) => statusOf({ port: trial.server.port, path, ca });
    const deadline = Date.now() + PATIENCE_MS;
    // The portal is built beside the running server.
    while ((await answer('/')) === 503 && Date.now() < deadline) await pause(200);
    for (const path of ['/v1/status', '/']) {
      const status = await answer(path);
      if (status !== 200) throw new Error(`${path} was answered with ${status}`);
    }
  },
  'SIGTERM to npm ends Homeport': async ({ server }) => {
    server.child.kill('SIGTERM');
    await once(server.child, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) });
    // npm may end before its script does.
    const deadline = Date.now() + PATIENCE_MS;
    while (await listens(server.port)) {
      if (Date.now() > deadline) throw new Error(`it still listens:\n${server.printed()}`);
      await pause(100);
    }
  },
};

/** Starts Homeport with `npm start` on free ports. Resolves when it prints that it runs. */
async function start({ cli, clone, data, environment }) {
  const child = spawn(process.execPath, [cli, 'start'], {
    cwd: clone,
    // In a new process group, which can be ended if a check fails.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...environment,
      HOMEPORT_DATA_DIR: data,
      HOMEPORT_LISTEN: '127.0.0.1:0',
      HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
      HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
      HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
    },
  });
  let printed = '';
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const running = new Promise((resolve, reject) => {
    const look = (text) => {
      printed += text;
      const [, port] = /Listening on +127\.0\.0\.1:(\d+)/.exec(printed) ?? [];
      if (port && printed.includes('Ctrl-C ends it.')) resolve(Number(port));
    };
    child.stdout.setEncoding('utf8').on('data', look);
    child.stderr.setEncoding('utf8').on('data', look);
    child.once('close', () => reject(new Error(`it ended:\n${printed}`)));
    patience.addEventListener('abort', () => reject(new Error(`it did not start:\n${printed}`)));
  });
  try {
    return { child, port: await running, printed: () => printed };
  } catch (error) {
    endGroup(child);
    throw error;
  }
}

function endGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

async function statusOf({ port, path, ca }) {
  const request = get({
    host: '127.0.0.1',
    port,
    path,
    ca,
    servername: 'localhost',
    agent: false,
    timeout: PATIENCE_MS,
  });
  const [response] = await once(request, 'response');
  response.resume();
  return response.statusCode;
}

async function listens(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Checks one version, and returns results in the form of vitest. */
async function check(version) {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-npm-'));
  const environment = cleanEnvironment();
  const trial = { clone: join(folder, 'clone'), data: join(folder, 'data'), environment };
  const results = [];
  try {
    trial.cli = await npmProgram(version);
    trial.npm = (...words) =>
      run(process.execPath, [trial.cli, ...words], { cwd: trial.clone, env: trial.environment, ...output });
    for (const [name, body] of Object.entries(CHECKS)) {
      await body(trial);
      results.push({ status: 'passed', fullName: `npm ${version}: ${name}`, failureMessages: [] });
    }
  } catch (error) {
    const name = Object.keys(CHECKS)[results.length];
    results.push({
      status: 'failed',
      fullName: `npm ${version}: ${name}`,
      failureMessages: [String(error.stderr || error.stack)],
    });
  } finally {
    if (trial.server) endGroup(trial.server.child);
    rmSync(folder, { recursive: true, force: true });
  }
  return results;
}

/** npm's program, without the npx that fetched it. */
async function npmProgram(version) {
  const words = ['--yes', '--package', `npm@${version}`, '--call', 'command -v npm'];
  return (await run('npx', words, { env: cleanEnvironment(), ...output })).stdout.trim();
}

/** Without settings that would reach the Homeport of a check. */
function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^HOMEPORT_|^NODE_OPTIONS$/.test(name)),
  );
}

const [report, ...versions] = process.argv.slice(2);
const assertionResults = [];
// One after the other, because each keeps a processor and the disk busy.
for (const version of versions.length > 0 ? versions : [OLDEST]) {
  for (const result of await check(version)) {
    console.log(`${result.status}: ${result.fullName}`);
    assertionResults.push(result);
  }
}
const failed = assertionResults.some(({ status }) => status === 'failed');
const name = fileURLToPath(import.meta.url);
writeFileSync(
  report,
  JSON.stringify({
    testResults: [{ name, status: failed ? 'failed' : 'passed', message: '', assertionResults }],
  }),
);
process.exitCode = failed ? 1 : 0;
