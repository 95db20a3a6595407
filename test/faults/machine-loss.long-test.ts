import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../database.ts';
import { has } from '../missing-programs.ts';
import { type DatabaseMachines, startDatabaseMachines } from '../servers/database-machines.ts';
import { freePort } from '../servers/free-port.ts';
import { findPostgres } from '../servers/postgres-server.ts';

/**
 * The reference architecture of docs/several-machines.md with its own configuration files: the loss of any machine, with its control plane, its
 * PostgreSQL and its etcd, in the middle of writes.
 */

const CREDENTIAL = 'b3f1c1b2-4a53-4f0e-9d55-1f8a5a3c9d10:a-password-of-this-test';
const authorization = `Basic ${Buffer.from(CREDENTIAL).toString('base64')}`;
const PATIENCE_MS = 60_000;
const WRITERS = 4;

const binaries = has('patroni', 'etcd', 'haproxy') ? findPostgres() : undefined;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** A process of Homeport on a machine. */
interface ControlPlane {
  machine: number;
  origin: string;
  edge: string;
  start(): void;
  kill(): Promise<void>;
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await look()); await sleep(100)) {
    if (Date.now() > end) throw new Error(`${what} did not come`);
  }
}

describe.skipIf(binaries === undefined)('three machines with a replicated database', () => {
  const agent = new Agent({ connect: { rejectUnauthorized: false }, headersTimeout: 40_000 });
  const folder = temporaryFolder();
  let machines: DatabaseMachines;
  let accountId: string;
  /** Where requests go: the next one after a failure, as a balancer would. */
  let apis: ControlPlane[];
  let websites: ControlPlane;

  beforeAll(async () => {
    machines = await startDatabaseMachines(binaries ?? '');
    const lost = await machines.primary();
    const [second = 0, third = 0] = [1, 2, 3].filter((machine) => machine !== lost);
    const first = await controlPlane(lost, 'api');
    first.start();
    await expectStatus(first);
    // Processes of one platform have the same key.
    for (const machine of [second, third]) {
      mkdirSync(dataOf(machine), { recursive: true });
      cpSync(join(dataOf(lost), 'sealing.key'), join(dataOf(machine), 'sealing.key'));
    }
    apis = [first, await controlPlane(second, 'api')];
    websites = await controlPlane(third, 'hosting');
    apis[1]?.start();
    websites.start();
    for (const api of apis) await expectStatus(api);
    const accounts = await call('GET', '/accounts');
    accountId = String(Object(Object(accounts.body).results)[0].id);
    await create('before');
  }, 300_000);
  afterAll(async () => {
    for (const one of [...(apis ?? []), websites]) await one?.kill();
    await machines?.stop();
    await agent.close();
    folder.remove();
  });

  const dataOf = (machine: number) => join(folder.path, `machine${machine}`);

  async function controlPlane(machine: number, only: 'api' | 'hosting'): Promise<ControlPlane> {
    const [port, edgePort] = [await freePort(), await freePort()];
    let child: ChildProcess | undefined;
    return {
      machine,
      origin: `https://localhost:${port}`,
      edge: `http://127.0.0.1:${edgePort}`,
      start() {
        child = spawn(process.execPath, ['bin/homeport.mjs', 'serve', '--only', only], {
          cwd: join(import.meta.dirname, '../..'),
          env: {
            PATH: process.env.PATH ?? '',
            HOMEPORT_DATA_DIR: dataOf(machine),
            HOMEPORT_DATABASE_URL: machines.urlOf(machine),
            HOMEPORT_LISTEN: `127.0.0.1:${port}`,
            HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
            HOMEPORT_EDGE_HTTP: `127.0.0.1:${edgePort}`,
            HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
            HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
            HOMEPORT_INSTALL_RUNTIME: 'static',
            HOMEPORT_EMBEDDED_PHP: 'wasm',
            HOMEPORT_EMBEDDED_PHP_MB: '0',
            HOMEPORT_RATE_LIMIT: '0',
            HOMEPORT_LOG_LEVEL: 'fatal',
            HOMEPORT_INITIAL_CREDENTIAL: CREDENTIAL,
          },
          stdio: ['ignore', 'ignore', 'inherit'],
        });
      },
      async kill() {
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      },
    };
  }

  /** One request to one process; null if it does not answer. */
  async function ask(
    api: ControlPlane,
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<Answer | null> {
    try {
      const { statusCode, body: answer } = await request(`${api.origin}/v1${path}`, {
        dispatcher: agent,
        method,
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: statusCode, body: text === '' ? {} : Object(JSON.parse(text)) };
    } catch {
      return null;
    }
  }

  const expectStatus = (api: ControlPlane) =>
    until(`an answer of ${api.origin}`, async () => (await ask(api, 'GET', '/status'))?.status === 200);

  /** The answer of any process, as soon as one has another than an error of the server. */
  async function call(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(100)) {
      for (const api of apis) {
        const answer = await ask(api, method, path, body);
        if (answer !== null && answer.status < 500) return answer;
      }
    }
    throw new Error(`${method} ${path} was not answered`);
  }

  async function create(name: string): Promise<void> {
    const { status, body } = await call('POST', '/installs', { name, account_id: accountId });
    expect(status).toBe(201);
    const path = `/installs/${String(body.id)}`;
    await until(`the website ${name}`, async () => (await call('GET', path)).body.status === 'active');
    expect(await visit(name)).toBe(200);
  }

  const visit = async (name: string): Promise<number> => {
    const { statusCode, body } = await request(websites.edge, { headers: { host: `${name}.localhost` } });
    await body.dump();
    return statusCode;
  };

  /** Writes and visits until `end` is aborted. */
  function traffic(round: number, end: AbortSignal) {
    const acknowledged: string[] = [];
    const visits = { answered: 0, failed: 0 };
    let last = performance.now();
    let longestMs = 0;
    const writer = async (number: number) => {
      for (let count = 0; !end.aborted; count++) {
        const name = `round ${round} writer ${number} site ${count}`;
        for (const api of apis) {
          const answer = await ask(api, 'POST', '/sites', { name, account_id: accountId });
          if (answer?.status !== 201) continue;
          acknowledged.push(String(answer.body.id));
          longestMs = Math.max(longestMs, performance.now() - last);
          last = performance.now();
          break;
        }
        await sleep(20);
      }
    };
    const visitor = async () => {
      for (; !end.aborted; await sleep(50)) {
        const status = await visit('before').catch(() => 0);
        if (status === 200) visits.answered++;
        else visits.failed++;
      }
    };
    const all = Promise.all([...Array.from({ length: WRITERS }, (_, number) => writer(number)), visitor()]);
    return { acknowledged, visits, all, awayMs: () => longestMs };
  }

  it('lose one and then another: nothing acknowledged is lost, and websites answer throughout', async () => {
    for (const round of [1, 2]) {
      const [first] = apis;
      // In the second round it is the machine of the websites that may have the primary; their process stays up.
      const lost = await machines.primary();
      const end = new AbortController();
      const { acknowledged, visits, all, awayMs } = traffic(round, end.signal);
      await until('the first writes', async () => acknowledged.length > 20);

      machines.lose(lost);
      const before = acknowledged.length;
      for (const api of apis) if (api.machine === lost) await api.kill();
      await until('further writes', async () => acknowledged.length > before + 20);
      expect(await machines.primary()).not.toBe(lost);
      end.abort();
      await all;

      // The process of websites connects by what runs on its own machine.
      if (lost !== websites.machine) await create(`without-${round}`);
      await machines.bringBack(lost);
      if (first?.machine === lost) first.start();
      for (const api of apis) await expectStatus(api);
      await machines.untilReplicated(2);
      await create(`after-${round}`);
      for (const id of acknowledged) expect((await call('GET', `/sites/${id}`)).status).toBe(200);
      expect(visits.failed).toBe(0);
      expect(visits.answered).toBeGreaterThan(20);
      process.stderr.write(
        `The API was away for ${(awayMs() / 1000).toFixed(1)} s when a machine was lost; ${acknowledged.length} writes were acknowledged, ${visits.answered} visits answered.\n`,
      );
    }
  }, 600_000);
});
