import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answer, createAgent, createClient, field, text } from '../client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { rounds } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';
import { DEADLY, isCommittedAt } from './deadly-sites.ts';

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

it.each(Object.entries(DEADLY))(
  'a request killed %s takes effect once when it is repeated',
  async (moment, name) => {
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
    const made = await sites(name);
    // On a busy machine the request took longer than its transaction is held, so its change was committed and its answer lost.
    if (moment === 'beforeAnswer' && made.length === 1) return;
    expect(made).toHaveLength(isCommittedAt(moment) ? 1 : 0);

    // This process takes over.
    const answer = await owner.client.call('POST', '/sites', request);
    expect(answer).toMatchObject({ status: 201, body: { name } });
    expect(answer.headers['idempotent-replayed']).toBe(isCommittedAt(moment) ? 'true' : undefined);
    expect(answer.headers.location).toBe(`/v1/sites/${text(answer.body, 'id')}`);
    expect(await sites(name)).toEqual([text(answer.body, 'id')]);
    expect((await owner.client.call('POST', '/sites', request)).body).toEqual(answer.body);
  },
  60_000,
);

// On PostgreSQL, the moments above and the test of crashes cover killed servers.
it('requests that are repeated until answered take effect once, while the server is killed again and again', async () => {
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

  async function inTurns(first: number): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let n = first; n < REQUESTS; n += 6) answers.push(await untilAnswered(n));
    return answers;
  }

  const all = Promise.all(Array.from({ length: 6 }, (_, first) => inTurns(first)));
  try {
    for (let kill = 1; kill <= KILLS; kill++) {
      while (answered < (kill * REQUESTS) / (KILLS + 2)) await sleep(1);
      server.child.kill('SIGKILL');
      await server.gone;
      server = await startServer(port, false);
    }
    const answers = (await all).flat();
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 201));
    for (const { body } of answers) expect(await sites(text(body, 'name'))).toEqual([field(body, 'id')]);
    expect(answers).toHaveLength(REQUESTS);
    expect(attempts).toBeGreaterThan(REQUESTS);
  } finally {
    server.child.kill('SIGKILL');
    await server.gone;
    await agent.close();
  }
});
