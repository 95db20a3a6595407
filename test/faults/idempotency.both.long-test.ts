import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { type Answer, createAgent, createClient, field } from '../client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { cases, onlyInLong, rounds } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';
import { DEADLY } from './deadly-sites.ts';

/** Requests while the server is killed at arbitrary moments. */
const REQUESTS = rounds(60, 400);
const KILLS = rounds(2, 10);

let homeport: TestHomeport;
let owner: Person;
let accountId: string;

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  ({ owner, accountId } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

interface ServingProcess {
  child: ChildProcess;
  gone: Promise<unknown>;
}

async function startServer(port: number, isDeadly: boolean): Promise<ServingProcess> {
  const settings = JSON.stringify({ ...homeport.place.settings, port, isDeadly });
  const script = join(import.meta.dirname, 'kill-server.ts');
  const child = spawn(process.execPath, [script, settings], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  await Promise.race([
    once(child.stdout, 'data'),
    gone.then(() => Promise.reject(new Error('did not start'))),
  ]);
  return { child, gone };
}

function clientAt(port: number) {
  const agent = createAgent(homeport.ca);
  const origin = `https://localhost:${port}`;
  return { client: createClient({ origin, agent, conformance: () => undefined }, owner.credential), agent };
}

async function sites(name: string): Promise<string[]> {
  const { database } = homeport.platform;
  const rows = await database.reader.selectFrom('sites').select('id').where('name', '=', name).execute();
  return rows.map((row) => row.id);
}

/** As a minute after the processes were killed that have these keys. */
async function passMinute(): Promise<void> {
  const created_at = new Date(Date.now() - 2 * MINUTE_MS).toISOString();
  await homeport.platform.database.write(({ queries }) =>
    queries.updateTable('idempotency_keys').set({ created_at }).where('status', 'is', null).execute(),
  );
}

const DEATHS = [
  [DEADLY.inTransaction, { made: 0, status: 201, replayed: undefined }],
  // The answer is lost, and the change is not made again.
  [DEADLY.beforeAnswer, { made: 1, status: 422, replayed: undefined }],
  [DEADLY.afterAnswer, { made: 1, status: 201, replayed: 'true' }],
] as const;
it.each(cases([DEADLY.beforeAnswer], DEATHS))(
  'a request that was %s takes effect once when it is repeated',
  async (name, expected) => {
    const port = await freePort();
    const { client, agent } = clientAt(port);
    const request = {
      json: { name, account_id: accountId },
      headers: { 'idempotency-key': crypto.randomUUID() },
    };
    const deadly = await startServer(port, true);
    await expect(client.call('POST', '/sites', request)).rejects.toThrow();
    await deadly.gone;
    expect(deadly.child.signalCode).toBe('SIGKILL');
    await agent.close();
    expect(await sites(name)).toHaveLength(expected.made);
    await passMinute();

    // This process takes over.
    const answer = await owner.client.call('POST', '/sites', request);
    expect(answer.status).toBe(expected.status);
    expect(answer.headers['idempotent-replayed']).toBe(expected.replayed);
    const made = await sites(name);
    expect(made).toHaveLength(1);
    if (answer.status === 201) expect(answer.headers.location).toBe(`/v1/sites/${made[0]}`);
    expect((await owner.client.call('POST', '/sites', request)).body).toEqual(answer.body);
  },
  60_000,
);

onlyInLong(it)(
  'requests that are repeated until answered take effect once, while the server is killed again and again',
  async () => {
    const port = await freePort();
    const { client, agent } = clientAt(port);
    let server = await startServer(port, false);
    let attempts = 0;
    let answered = 0;

    async function untilAnswered(n: number): Promise<Answer> {
      const json = { name: `Site ${n}`, account_id: accountId };
      const headers = { 'idempotency-key': `request-${n}` };
      for (;;) {
        attempts++;
        try {
          const answer = await client.call('POST', '/sites', { json, headers });
          answered++;
          return answer;
        } catch {
          await sleep(20);
        }
      }
    }

    async function inTurns(first: number): Promise<[string, Answer][]> {
      const answers: [string, Answer][] = [];
      for (let n = first; n < REQUESTS; n += 6) answers.push([`Site ${n}`, await untilAnswered(n)]);
      return answers;
    }

    const all = Promise.all(Array.from({ length: 6 }, (_, first) => inTurns(first)));
    try {
      for (let kill = 1; kill <= KILLS; kill++) {
        while (answered < (kill * REQUESTS) / (KILLS + 2)) await sleep(1);
        server.child.kill('SIGKILL');
        await server.gone;
        await passMinute();
        server = await startServer(port, false);
      }
      const answers = (await all).flat();
      for (const [name, { status, body }] of answers) {
        // 422: the server was killed between the change and its answer.
        expect([201, 422]).toContain(status);
        const made = await sites(name);
        expect(made).toEqual(status === 201 ? [field(body, 'id')] : [expect.any(String)]);
      }
      expect(answers).toHaveLength(REQUESTS);
      expect(attempts).toBeGreaterThan(REQUESTS);
    } finally {
      server.child.kill('SIGKILL');
      await server.gone;
      await agent.close();
    }
  },
);
