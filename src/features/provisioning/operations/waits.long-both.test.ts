import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type JobsFixture, openJobsFixture, until } from '../../../../test/jobs.ts';
import { signedIn } from '../../../../test/portal-client.ts';
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

describe('a held request', () => {
  let homeport: TestHomeport;
  let owner: Person;
  let path: string;
  let id: string;
  beforeEach(async () => {
    homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
    const account = await homeport.ownedAccount();
    owner = account.owner;
    const install = await homeport.install(owner, account.accountId);
    const started = await owner.client.post(`/installs/${install.id}/purge_cache`, { type: 'page' });
    path = String(started.headers.location).replace('/v1', '');
    id = path.replace('/operations/', '');
  });
  afterEach(() => homeport.remove());

  /** Sends requests that are held. The server has them once it has answered later ones. */
  async function hold(...clients: { get(path: string): Promise<Answer> }[]): Promise<Promise<Answer>[]> {
    const held = clients.map((client) => client.get(`${path}?wait=60`));
    for (let n = 0; n < 3; n += 1) await owner.client.get(path);
    return held;
  }

  it('is answered with the present state when the server stops', async () => {
    const [held] = await hold(owner.client);
    await homeport.stop(2_000, 60_000);
    expect(await held).toMatchObject({ status: 200, body: { status: 'queued' } });
  });

  it('gets 401 if its credential was revoked or its session ended meanwhile', async () => {
    const { services, platform } = homeport;
    const revoked = await services.credentials.issue(owner.userId, { name: 'revoked' });
    const portal = await signedIn(homeport, owner);
    const session = { get: (target: string) => portal.call('GET', `/v1${target}`) };
    const [byCredential, bySession, other] = await hold(homeport.clientOf(revoked), session, owner.client);
    await services.credentials.revoke(revoked.username);
    await portal.delete('/session');
    await platform.database.write(({ queries }) =>
      queries.updateTable('jobs').set({ state: 'succeeded' }).where('id', '=', id).execute(),
    );
    expect(await byCredential).toMatchObject({ status: 401, body: { message: 'Bad Credentials' } });
    expect(await bySession).toMatchObject({ status: 401, body: { message: 'Authentication required' } });
    expect(await other).toMatchObject({ status: 200, body: { status: 'succeeded' } });
  });
});
