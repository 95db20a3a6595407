import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSealer } from '../../src/secrets/sealer.ts';
import { openTestDatabase } from '../database.ts';
import { rounds } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';

const INSTALLS = 20;
/** Of each install. */
const EVENTS = rounds(6, 60);
/** A process is killed while the last of so many events of each install arrive. */
const EVENTS_PER_KILL = 3;

const messageSchema = Type.Object({
  install_id: Type.String(),
  data: Type.Object({ n: Type.Number() }),
});

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await database.remove();
});

function start(script: string, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  children.delete(child);
}

async function createWebhook(url: string): Promise<string> {
  const account = crypto.randomUUID();
  const now = new Date().toISOString();
  await database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: account, name: 'One', created_at: now }).execute();
    await queries
      .insertInto('webhooks')
      .values({
        id: crypto.randomUUID(),
        account_id: account,
        url,
        description: '',
        event_types: null,
        install_ids: null,
        sealed_secret: createSealer(Buffer.alloc(32, 1)).seal('whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI='),
        created_at: now,
        updated_at: now,
      })
      .execute();
  });
  return account;
}

/** Adds one event of each install. */
async function addEvents(account: string, installs: string[], n: number): Promise<void> {
  await database.write(({ queries }) =>
    queries
      .insertInto('events')
      .values(
        installs.map((install_id) => ({
          id: crypto.randomUUID(),
          type: 'install.updated',
          account_id: account,
          install_id,
          subject_id: null,
          data: JSON.stringify({ n }),
          created_at: new Date().toISOString(),
        })),
      )
      .execute(),
  );
}

it('deliveries survive kill -9 of senders and of the receiver: nothing is lost, and the order of each install is kept', async () => {
  const port = await freePort();
  const journal = join(database.place.settings.dataDir, 'received.jsonl');
  const account = await createWebhook(`http://127.0.0.1:${port}/`);
  const installs = Array.from({ length: INSTALLS }, () => crypto.randomUUID());
  const startReceiver = () => start('webhook-receiver.ts', String(port), journal);
  const startSender = () => start('webhook-sender.ts', JSON.stringify(database.place.settings));
  const received = () =>
    (existsSync(journal) ? readFileSync(journal, 'utf8') : '')
      .split('\n')
      .slice(0, -1)
      .map((line) => Parse(messageSchema, JSON.parse(line)));
  async function until(isReached: (messages: ReturnType<typeof received>) => boolean): Promise<void> {
    while (!isReached(received())) {
      for (const child of children) expect(child.exitCode).toBe(null);
      await sleep(10);
    }
  }

  let receiver = startReceiver();
  const senders = [startSender(), startSender()];
  let kills = 0;
  for (let n = 0; n < EVENTS; n++) {
    await addEvents(account, installs, n);
    if ((n + 1) % EVENTS_PER_KILL !== 0) continue;
    await until((messages) => messages.some(({ data }) => data.n === n));
    kills++;
    if (kills % 2 === 0) {
      await kill(receiver);
      receiver = startReceiver();
      continue;
    }
    // The one that delivers is one of the two.
    for (const sender of senders.splice(0)) {
      await kill(sender);
      senders.push(startSender());
    }
  }
  const keyOf = ({ install_id, data }: { install_id: string; data: { n: number } }) =>
    `${install_id} ${data.n}`;
  await until((messages) => new Set(messages.map(keyOf)).size === INSTALLS * EVENTS);
  await expect
    .poll(
      async () =>
        (
          await database.reader
            .selectFrom('webhook_deliveries')
            .select('id')
            .where('state', '<>', 'succeeded')
            .execute()
        ).length,
      { timeout: 20_000 },
    )
    .toBe(0);
  await Promise.all([...children].map(kill));

  const last = new Map<string, number>();
  for (const { install_id, data } of received()) {
    const before = last.get(install_id) ?? -1;
    // Repetitions are allowed; an event that overtakes another is not.
    expect(data.n).toBeLessThanOrEqual(before + 1);
    last.set(install_id, Math.max(before, data.n));
  }
  expect([...last.values()]).toEqual(installs.map(() => EVENTS - 1));
});
