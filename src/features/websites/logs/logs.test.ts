import { Agent, request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { LogPage, LogQuery } from '../../../hosting/contract/logs.ts';
import { type ServedMachine, serveMachine } from '../../../hosting/remote/embedded-machine.fixture.ts';
import { environment } from '../../hosts/fleet.fixture.ts';

let machine: ServedMachine;
let homeport: TestHomeport;
let agent: Agent;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };
/** The questions to the host. */
let asked: { id: string; query: LogQuery }[];
/** The runs in the log of the fake host. */
let runs: number;

const run = (number: number) => ({
  time: new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString(),
  seconds: 1,
  exit: 0,
  output: `run ${number}`,
});
const cursorOf = (number: number) => `2026-01-01.1.${number}`;

/** A log of runs, with a position after each. */
const readRuns: HostMachine['readLog'] = async ({ id }, query) => {
  asked.push({ id, query });
  const [, , place] = (query.cursor ?? cursorOf(runs)).split('.').map(Number);
  const from = place ?? 0;
  const numbers = Array.from({ length: runs }, (_, index) => index + 1).filter((number) =>
    query.direction === 'older' ? number <= from : number > from,
  );
  const inOrder = query.direction === 'older' ? numbers.toReversed() : numbers;
  const shown = inOrder.slice(0, query.limit);
  const last = shown.at(-1);
  const cursor = query.direction === 'older' ? older(last) : cursorOf(last ?? from);
  return { lines: shown.map((number) => JSON.stringify(run(number))), cursor, end: cursorOf(runs) };
};
const older = (last = 1) => (last === 1 ? null : cursorOf(last - 1));

beforeAll(async () => {
  machine = await serveMachine();
  homeport = await startTestHomeport({ environment: environment(machine.runFolder) });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
  agent = new Agent({ connect: { ca: homeport.ca }, bodyTimeout: 0 });
});
beforeEach(() => {
  asked = [];
  runs = 5;
  machine.machine.readLog = readRuns;
});
afterAll(async () => {
  await agent?.destroy();
  await homeport?.remove();
  await machine?.close();
});

const get = (rest: string, { client } = owner, { id } = install) =>
  client.get(`/installs/${id}/logs/${rest}`);

/** Follows a log; collects the lines of the stream. */
async function follow(rest = 'cron', { credential } = owner, headers: Record<string, string> = {}) {
  const pair = `${credential.username}:${credential.password}`;
  const answer = await request(`${homeport.origin}/v1/installs/${install.id}/logs/${rest}`, {
    dispatcher: agent,
    headers: {
      accept: 'text/event-stream',
      authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
      ...headers,
    },
  });
  let text = '';
  let isOver = false;
  const reading = (async () => {
    for await (const chunk of answer.body.setEncoding('utf8')) text += chunk;
  })();
  reading
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    until: (part: string) => vi.waitFor(() => expect(text).toContain(part), { timeout: 20_000 }),
    ended: () => vi.waitFor(() => expect(isOver).toBe(true), { timeout: 20_000 }),
    text: () => text,
    leave: () => answer.body.destroy(),
  };
}

describe('a log', () => {
  it('comes in pages, newest first, with a cursor to follow it', async () => {
    expect(await get('cron?limit=2')).toMatchObject({
      status: 200,
      body: { results: [run(5), run(4)], next_cursor: cursorOf(3), follow_cursor: cursorOf(5) },
    });
    expect(await get(`cron?limit=1000&cursor=${cursorOf(3)}`)).toMatchObject({
      body: { results: [run(3), run(2), run(1)], next_cursor: null },
    });
    expect(asked.map(({ id, query }) => [id, query.limit])).toEqual([
      [install.id, 2],
      [install.id, 500],
    ]);
  });

  it('is filtered by time, text and status on the host', async () => {
    const query = 'from=2026-01-01T01:00:00%2B01:00&to=2026-01-02T00:00:00Z&search=Foo%20"bar&status=5xx';
    expect((await get(`access?${query}`)).status).toBe(200);
    expect(asked[0]?.query).toEqual({
      kind: 'access',
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-01-02T00:00:00.000Z',
      search: 'Foo "bar',
      status: '5xx',
      cursor: null,
      direction: 'older',
      limit: 100,
    });
  });

  it.each([
    'cron?from=yesterday',
    'cron?cursor=7',
    'cron?limit=0',
    'cron?status=404',
    'access?status=6xx',
    'access?status=4xx&status=5xx',
    `php?search=${'x'.repeat(201)}`,
    'php?search=%00',
  ])('is refused for %s', async (rest) => {
    expect((await get(rest)).status).toBe(400);
    expect(asked).toEqual([]);
  });

  it('of an unknown kind, or of an install that the caller does not see, is not found', async () => {
    expect((await get('auth')).status).toBe(404);
    const { owner: other } = await homeport.ownedAccount();
    const partial = await homeport.person(accountId, 'partial');
    for (const person of [other, partial]) expect(await get('access', person)).toMatchObject(NOT_FOUND);
    const given = await homeport.person(accountId, 'partial', [install.id]);
    expect((await get('access', given)).status).toBe(200);
  });

  it('has no lines of other shapes, which a compromised host may send', async () => {
    machine.machine.readLog = async (): Promise<LogPage> => ({
      lines: [
        'x',
        '[]',
        'null',
        '{"time":"x"}',
        JSON.stringify({ ...run(1), output: { a: 1 } }),
        JSON.stringify(run(2)),
      ],
      cursor: null,
      end: cursorOf(1),
    });
    expect(await get('cron')).toMatchObject({ body: { results: [run(2)] } });
  });

  it('is refused with the reason of a host without logs', async () => {
    const reason = 'This install has no logs.';
    machine.machine.readLog = async () => ({ refused: 'unsupported', reason });
    expect(await get('access')).toMatchObject({ status: 409, body: { message: reason } });
  });

  it('gets a 502 if the host fails', async () => {
    machine.machine.readLog = () => Promise.reject(new Error('the disk is gone'));
    expect(await get('access')).toMatchObject({
      status: 502,
      body: { message: 'The host of the website did not answer. Try again in a minute.' },
    });
  });
});

describe('a follower', () => {
  it('gets what comes after the cursor, and goes on where it was', async () => {
    const stream = await follow(`cron?cursor=${cursorOf(4)}`);
    expect(stream).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      },
    });
    await stream.until(`id: ${cursorOf(5)}\nevent: entry\ndata: ${JSON.stringify(run(5))}\n\n`);
    runs = 7;
    await stream.until(`event: entry\ndata: ${JSON.stringify(run(6))}\n\nid: ${cursorOf(7)}\n`);
    stream.leave();
    const again = await follow(`cron?cursor=${cursorOf(4)}`, owner, { 'last-event-id': cursorOf(6) });
    await again.until(JSON.stringify(run(7)));
    expect(again.text()).not.toContain(JSON.stringify(run(6)));
    again.leave();
  });

  it('without a cursor gets new entries only', async () => {
    const stream = await follow();
    runs = 6;
    await stream.until(JSON.stringify(run(6)));
    expect(stream.text()).not.toContain('run 5');
    stream.leave();
  });

  it('loses the stream with the permission', async () => {
    const person = await homeport.person(accountId, 'partial', [install.id]);
    const stream = await follow('cron', person);
    await owner.client.delete(`/accounts/${accountId}/account_users/${person.userId}`);
    await stream.ended();
    expect((await follow('cron', person)).status).toBe(404);
  });

  it('is one of five of a user at most', async () => {
    const person = await homeport.person(accountId, 'full');
    const streams = await Promise.all(Array.from({ length: 6 }, () => follow('cron', person)));
    expect(streams.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 429]);
    for (const { leave } of streams) leave();
    await vi.waitFor(async () => {
      const { status, leave } = await follow('cron', person);
      leave();
      expect(status).toBe(200);
    }, 20_000);
  });

  it('that is refused takes no place of its user', async () => {
    const places = (count: number) => Promise.all(Array.from({ length: count }, () => follow('cron', busy)));
    const [busy, ...others] = await Promise.all(
      Array.from({ length: 5 }, () => homeport.person(accountId, 'full')),
    );
    if (busy === undefined) throw new Error('nobody follows');
    const streams = await Promise.all(
      others.flatMap((person) => Array.from({ length: 5 }, () => follow('cron', person))),
    );
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    expect((await places(6)).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 429));
    for (const { leave } of streams) leave();
    await vi.waitFor(async () => {
      const { status, leave } = await follow('cron', busy);
      leave();
      expect(status).toBe(200);
    }, 20_000);
  });

  it('is refused like a reader', async () => {
    machine.machine.readLog = async () => ({ refused: 'unsupported', reason: 'None.' });
    const stream = await follow();
    await stream.until('None.');
    expect([stream.status, stream.headers['content-type']]).toEqual([409, 'application/json; charset=utf-8']);
    expect((await follow('cron?cursor=x')).status).toBe(400);
    expect((await follow('cron', owner, { 'last-event-id': 'x' })).status).toBe(400);
  });
});
