import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTestDatabase } from '../../../../test/database.ts';
import { storedRows } from '../../../../test/stored-rows.ts';
import { InvalidRequest } from '../../../lib/failures.ts';
import { knownHost } from '../../hosts/known-host.fixture.ts';
import { insertHost, updateHost } from '../../hosts/store.ts';
import { type EmptiedInstall, emptyHost } from './empty-host.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let ids: Record<'old' | 'new' | 'full', string>;
let names: string[];

beforeEach(async () => {
  database = await openTestDatabase();
  ids = { old: crypto.randomUUID(), new: crypto.randomUUID(), full: crypto.randomUUID() };
  const capacities = { old: 9, new: 2, full: 0 };
  for (const name of ['old', 'new', 'full'] as const) {
    const { description } = knownHost(name, capacities[name]);
    const host = {
      id: ids[name],
      name,
      address: `https://${name}.test:8470`,
      public_name: null,
      edge_addresses: [],
    };
    await database.write(async ({ queries }) => {
      await insertHost(queries, { ...host, created_at: '2026-01-01T00:00:00.000Z' });
      const told = JSON.stringify({ ...description, id: ids[name] });
      await updateHost(queries, ids[name], { description: told, accepting: name !== 'old' });
    });
  }
  const rows = storedRows(database);
  const account = await rows.account();
  names = [];
  for (let count = 0; count < 3; count++) {
    const id = await rows.install(account);
    await database.write(({ queries }) =>
      queries.updateTable('installs').set({ host_id: ids.old }).where('id', '=', id).execute(),
    );
    const { name } = await database.reader
      .selectFrom('installs')
      .select('name')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    names.push(name);
  }
});
afterEach(() => database.remove());

/** Moves as the real service does, at once; `fail`: why one fails, by its name. */
async function empty({
  fail = {},
  refuse = {},
  stopAfter = Number.POSITIVE_INFINITY,
}: {
  fail?: Record<string, string>;
  refuse?: Record<string, string>;
  stopAfter?: number;
} = {}): Promise<EmptiedInstall[]> {
  const interrupted = new AbortController();
  let moved = 0;
  const request = async (name: string, to: string) => {
    if (refuse[name] !== undefined) throw new InvalidRequest(refuse[name]);
    return { jobId: name, installId: name, from: 'old', to };
  };
  const ended = async ({ to }: { to: 'new' | string }, { name }: { name: string }) => {
    moved += 1;
    if (moved >= stopAfter) interrupted.abort();
    if (fail[name] !== undefined) return fail[name];
    const host_id = to === 'new' ? ids.new : ids.full;
    await database.write(({ queries }) =>
      queries.updateTable('installs').set({ host_id }).where('name', '=', name).execute(),
    );
    return null;
  };
  const results: EmptiedInstall[] = [];
  for await (const result of emptyHost({ database }, request, ids.old, ended, interrupted.signal))
    results.push(result);
  return results;
}

it('moves installs one after the other while another host has room, and names those that stay', async () => {
  const [first = '', second = '', third = ''] = names;
  expect(await empty()).toEqual([
    { name: first, to: 'new' },
    { name: second, to: 'new' },
    { name: third, stayed: expect.stringMatching(/^No host has room/) },
  ]);
});

it('goes on after a move that fails or is refused', async () => {
  const [first = '', second = '', third = ''] = names;
  expect(
    await empty({
      fail: { [first]: 'the disk is full' },
      refuse: { [second]: 'It is being moved already.' },
    }),
  ).toEqual([
    { name: first, stayed: 'the disk is full' },
    { name: second, stayed: 'It is being moved already.' },
    { name: third, to: 'new' },
  ]);
});

it('begins no further move after an interruption', async () => {
  expect(await empty({ stopAfter: 1 })).toEqual([]);
});
