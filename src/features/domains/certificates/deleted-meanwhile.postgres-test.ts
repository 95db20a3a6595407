import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { domainCalls, domainName, type Install } from '../domains/domains.fixture.ts';
import { requestOrders } from './attempts.ts';
import { ensureCertificates } from './self-signed-certificates.ts';

let homeport: TestHomeport;
let owner: Person;
let install: Install;

beforeAll(async () => {
  homeport = await startTestHomeport();
  const account = await homeport.ownedAccount();
  owner = account.owner;
  install = await homeport.install(owner, account.accountId);
});
afterAll(() => homeport?.remove());

/** Deletes a domain in a transaction that ends only once `work` waits for it. */
async function deletedDuring<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
  const client = new pg.Client(homeport.place.settings.databaseUrl ?? '');
  await client.connect();
  try {
    await client.query('begin');
    await client.query('delete from certificates where domain_id = $1', [id]);
    await client.query('delete from domains where id = $1', [id]);
    const working = work();
    const waits = async () => {
      const { rows } = await client.query<{ count: number }>(
        'select count(*)::int as count from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid))',
      );
      return rows[0]?.count ?? 0;
    };
    await Promise.race([working, expect.poll(waits, { timeout: 30_000 }).toBeGreaterThan(0)]);
    await client.query('commit');
    return await working;
  } finally {
    await client.end();
  }
}

async function addedDomain(): Promise<{ id: string; name: string }> {
  const name = domainName();
  const id = await domainCalls(() => owner.client).added(install, name);
  await homeport.idle();
  return { id, name };
}

// SQLite has one writer, so no deletion can interleave.
test('a domain deleted while its certificate is created fails no job', async () => {
  const domain = await addedDomain();
  const { database } = homeport.platform;
  await database.write(({ queries }) =>
    queries.deleteFrom('certificates').where('domain_id', '=', domain.id).execute(),
  );
  await deletedDuring(domain.id, () => ensureCertificates(homeport.platform, [domain]));
});

test('a domain deleted while an order is queued stops no other order', async () => {
  const [gone, kept] = [await addedDomain(), await addedDomain()];
  const { database } = homeport.platform;
  const wanting = [gone, kept].map((domain) => ({ ...domain, install_id: install.id }));
  const tried = await deletedDuring(gone.id, () =>
    database.write(async (transaction) => {
      await requestOrders(transaction, homeport.platform, wanting);
      // Here, because the job of an order that is not due forgets the attempt.
      return transaction.queries.selectFrom('certificate_attempts').select('domain_id').execute();
    }),
  );
  expect(tried).toEqual([{ domain_id: kept.id }]);
});
