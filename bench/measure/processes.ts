import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { publicFolder } from '../../src/api/public-certificate.ts';
import { freePort } from '../../test/servers/free-port.ts';

/** A server in a separate process. */
export interface Served {
  pid: number;
  origin: string;
  ca?: string;
  /** From spawning the process to its first answer. */
  startMs: number;
  residentMb(): number;
  /** Processor time that the server has used, in milliseconds, to 10 ms. */
  cpuMs(): number;
  stop(): Promise<void>;
}

/** Starts a process and waits until `origin` answers anything. */
export async function serve(
  command: string[],
  options: { origin: string; env?: Record<string, string>; ca?: () => string; path?: string; cwd?: string },
): Promise<Served> {
  const [program = '', ...args] = command;
  const started = performance.now();
  const child = spawn(program, args, {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'ignore', 'inherit'],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  await untilAnswering(child, options.origin + (options.path ?? '/'));
  const startMs = performance.now() - started;
  const ca = options.ca?.();
  return {
    pid: child.pid ?? 0,
    origin: options.origin,
    ...(ca === undefined ? {} : { ca }),
    startMs,
    residentMb: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    cpuMs: () => {
      // Fields 14 and 15 of proc(5) stat, in hundredths of a second; the name before them may hold spaces.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

async function untilAnswering(child: ChildProcess, url: string): Promise<void> {
  const agent = new Agent({ connect: { rejectUnauthorized: false }, pipelining: 0 });
  for (let tried = 0; tried < 6_000; tried++) {
    if (child.exitCode !== null) throw new Error(`${url}: the server ended with code ${child.exitCode}`);
    try {
      const { body } = await request(url, { dispatcher: agent });
      await body.text();
      await agent.close();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  throw new Error(`${url} did not answer`);
}

export interface ServedHomeport extends Served {
  dataDir: string;
  authorization: string;
  ca: string;
  env: Record<string, string>;
}

/** Homeport as `npm start` runs it, with the limits off. `more`: further settings. `args`: of the command. */
export async function serveHomeport(
  dataDir: string,
  databaseUrl?: string,
  more: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<ServedHomeport> {
  const port = await freePort();
  const username = 'b3f1c1b2-4a53-4f0e-9d55-1f8a5a3c9d10';
  const password = 'a-password-for-the-bench-only';
  const env = {
    HOMEPORT_DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { HOMEPORT_DATABASE_URL: databaseUrl }),
    HOMEPORT_LISTEN: `127.0.0.1:${port}`,
    HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
    HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
    HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
    HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
    HOMEPORT_EMBEDDED_PHP_MB: '0',
    // The same on each machine.
    HOMEPORT_EMBEDDED_PHP: 'wasm',
    HOMEPORT_RATE_LIMIT: '0',
    HOMEPORT_LOG_LEVEL: 'warn',
    HOMEPORT_INITIAL_CREDENTIAL: `${username}:${password}`,
    ...more,
  };
  const served = await serve([process.execPath, 'bin/homeport.mjs', 'serve', ...args], {
    origin: `https://localhost:${port}`,
    path: '/v1/status',
    env,
    ca: () => readFileSync(join(dataDir, 'tls', 'api.crt'), 'utf8'),
  });
  return {
    ...served,
    ca: served.ca ?? '',
    dataDir,
    env,
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  };
}

export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'homeport-bench-'));
  return {
    path,
    remove: () => {
      for (const folder of [path, publicFolder(path)]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
