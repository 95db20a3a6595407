// Runs the README's first command with npm versions, each in a clean clone and without development packages, which `npm start` does not
// need. Runs on Node 20, without a dependency.
//
//   npm-versions.mjs REPORT [VERSION ...]
//
// Without a version, it takes the oldest npm and the packages that are installed here. With versions, each installs its own, which costs
// 40 s of a processor. Writes REPORT in the form of vitest's JSON reports, which results.mjs reads. Ends with 1 if a check failed.
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

/** How a clone gets its packages: from npm. */
const INSTALLING = {
  'npm ci leaves a clean clone': async ({ npm, clone }) => {
    // The cache has what the first `npm ci` downloaded.
    await npm('ci', '--omit=dev', '--loglevel=error', '--prefer-offline', '--no-audit');
    const changes = await changesOf(clone);
    if (changes !== '') throw new Error(`changed in the clone:\n${changes}`);
  },
};

/** The same from this repository. */
const COPYING = {
  'npm ci has installed every package that is not for development': async ({ clone }) => {
    const { packages } = JSON.parse(
      readFileSync(join(REPOSITORY, 'node_modules/.package-lock.json'), 'utf8'),
    );
    const kept = Object.keys(packages).filter((path) => !packages[path].dev && isTopLevel(path));
    // Not linked: Node would find development packages beside the original.
    await run('cp', ['--archive', '--parents', ...kept, clone], { cwd: REPOSITORY });
  },
};

/** The checks by name, in order. Each gets the findings of earlier ones. The first failure ends the run. */
const CHECKS = {
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
async function start(trial) {
  const { cli, clone, data, environment } = trial;
  const child = spawn(process.execPath, [cli, 'start'], {
    cwd: clone,
    // In a new process group, which can be ended if a check fails, or this program is ended.
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
  trial.started = child;
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
  return { child, port: await running, printed: () => printed };
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

/** Whether a path of a lock file is no package within another, which is copied with that. */
const isTopLevel = (path) => path.lastIndexOf('node_modules/') === 0;

const changesOf = async (clone) => (await run('git', ['status', '--porcelain'], { cwd: clone })).stdout;

/** Checks one version, after one of the ways to its packages. Returns results in the form of vitest. */
async function check(version, packages) {
  const checks = { ...packages, ...CHECKS };
  const folder = mkdtempSync(join(tmpdir(), 'homeport-npm-'));
  const environment = cleanEnvironment();
  const trial = { clone: join(folder, 'clone'), data: join(folder, 'data'), environment };
  const results = [];
  const cleanUp = () => {
    if (trial.started) endGroup(trial.started);
    // The processes of this group, which end at the same time, may still write.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  // `.ci/run` was interrupted.
  const ended = () => {
    cleanUp();
    process.exit(1);
  };
  process.once('SIGTERM', ended);
  try {
    trial.cli = await npmProgram(version);
    trial.npm = (...words) =>
      run(process.execPath, [trial.cli, ...words], { cwd: trial.clone, env: trial.environment, ...output });
    await run('git', ['clone', '--quiet', REPOSITORY, trial.clone]);
    for (const [name, body] of Object.entries(checks)) {
      await body(trial);
      results.push({ status: 'passed', fullName: `npm ${version}: ${name}`, failureMessages: [] });
    }
  } catch (error) {
    const name = Object.keys(checks)[results.length];
    results.push({
      status: 'failed',
      fullName: `npm ${version}: ${name}`,
      failureMessages: [String(error.stderr || error.stack)],
    });
  } finally {
    process.off('SIGTERM', ended);
    cleanUp();
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

/** Checks these versions, or the oldest with the installed packages. */
async function checkAll(report, versions) {
  const assertionResults = [];
  // One after the other, because each keeps a processor and the disk busy.
  for (const version of versions.length > 0 ? versions : [OLDEST]) {
    for (const result of await check(version, versions.length > 0 ? INSTALLING : COPYING)) {
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
}

const [report, ...versions] = process.argv.slice(2);
await checkAll(report, versions);
