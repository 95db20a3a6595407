import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestHomeport } from '../../../../test/homeport.ts';
import { type JobsFixture, openJobsFixture, until } from '../../../../test/jobs.ts';
import { purgeCache } from '../../websites/caches/jobs.ts';
import { createWaits, type Waits } from './waits.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
beforeEach(() => jobs.clear());
afterAll(() => jobs.remove());

const LONG_MS = 600_000;
const never = () => new AbortController().signal;

/** An operation of an account. Nothing runs it. */
const operation = () =>
  jobs.ask(purgeCache, { install_id: crypto.randomUUID(), cache: 'page' }, { account: crypto.randomUUID() });
const end = (id: string) =>
  jobs.database.write(({ queries }) =>
    queries.updateTable('jobs').set({ state: 'succeeded' }).where('id', '=', id).execute(),
  );

/** Counts the queries of the waits. */
function counted(): { waits: Waits; queries: () => number } {
  let queries = 0;
  const { reader, changes } = jobs.database;
  const counting = new Proxy(reader, {
    get(target, name) {
      if (name === 'selectFrom') queries += 1;
      const found: unknown = Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
  return { waits: createWaits({ reader: counting, changes }), queries: () => queries };
}

describe('a wait', () => {
  it('ends with its operation, and not with another', async () => {
    const waits = createWaits(jobs.database);
    const [mine, other] = [await operation(), await operation()];
    const ended: string[] = [];
    const holds = [mine, other].map((id) => waits.hold(id, LONG_MS, never()).then(() => ended.push(id)));
    await end(mine);
    await until(() => expect(ended).toEqual([mine]));
    waits.close();
    await Promise.all(holds);
  });

  it('ends at once if the operation has ended before', async () => {
    const waits = createWaits(jobs.database);
    const id = await operation();
    await end(id);
    await waits.hold(id, LONG_MS, never());
    waits.close();
  });

  it('ends after its time, with its client, and when the process stops', async () => {
    const waits = createWaits(jobs.database);
    const id = await operation();
    await waits.hold(id, 10, never());
    const client = new AbortController();
    const gone = waits.hold(id, LONG_MS, client.signal);
    client.abort();
    await gone;
    const last = waits.hold(id, LONG_MS, never());
    waits.close();
    await last;
    await waits.hold(id, LONG_MS, never());
  });

  it('is answered at once if the process holds too many', async () => {
    const waits = createWaits(jobs.database, 1);
    const id = await operation();
    const first = waits.hold(id, LONG_MS, never());
    await waits.hold(id, LONG_MS, never());
    waits.close();
    await first;
  });

  it('costs no query of its own among 5,000', async () => {
    const { waits, queries } = counted();
    const ids = [await operation(), await operation()];
    let ended = 0;
    const holds = Array.from({ length: 5_000 }, (_, n) =>
      waits.hold(ids[n % 2] ?? '', LONG_MS, never()).then(() => {
        ended += 1;
      }),
    );
    for (const id of ids) await end(id);
    await Promise.all(holds);
    expect(ended).toBe(5_000);
    expect(queries()).toBeLessThan(20);
    waits.close();
  });
});

it('a server that stops answers held requests with the present state', async () => {
  const homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  const { accountId, owner } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  const started = await owner.client.post(`/installs/${install.id}/purge_cache`, { type: 'page' });
  const path = String(started.headers.location).replace('/v1', '');
  const held = owner.client.get(`${path}?wait=60`);
  // The server has the request once it has answered a later one.
  for (let n = 0; n < 3; n += 1) await owner.client.get(path);
  await homeport.stop(2_000, 60_000);
  expect(await held).toMatchObject({ status: 200, body: { status: 'queued' } });
  await homeport.remove();
});
