import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/database.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import type { CertificateSource } from '../../database/tables/certificates.ts';
import type { SslStatus } from '../../database/tables/domains.ts';
import type { InstallStatus } from '../../database/tables/installs.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { checkDomainCertificates } from './domain-certificates.ts';

const clock = manualClock(new Date('2026-05-01T00:00:00.000Z'));
const AUTHORITY = { acmeDirectory: 'https://acme.example/directory' };
const accountId = crypto.randomUUID();

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(({ queries }) =>
    queries
      .insertInto('accounts')
      .values({ id: accountId, name: 'Harbour Agency', created_at: timestamp(clock) })
      .execute(),
  );
});
beforeEach(() => database.write(({ queries }) => queries.deleteFrom('installs').execute()));
afterAll(() => database.remove());

const found = (config: { acmeDirectory: string | null } = AUTHORITY) =>
  checkDomainCertificates(database, config, clock);

interface Domain {
  ssl_status?: SslStatus;
  ssl_reason?: string;
  source?: CertificateSource;
  /** Days until the certificate expires. */
  expires?: number;
  /** Days until it is to be renewed. */
  renews?: number;
  is_duplicate?: boolean;
  install?: InstallStatus;
}

let installs = 0;

/** A domain with a certificate, on an install of its own. */
async function add(name: string, domain: Domain): Promise<void> {
  const at = (days: number) => timestamp(clock, days * DAY_MS);
  const [install_id, id] = [crypto.randomUUID(), crypto.randomUUID()];
  const { ssl_status = 'active', ssl_reason = null, is_duplicate = false, source = 'LETS_ENCRYPT' } = domain;
  const created_at = at(0);
  installs += 1;
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('installs')
      .values({
        id: install_id,
        account_id: accountId,
        site_id: null,
        environment: null,
        name: `install${installs}`,
        status: domain.install ?? 'active',
        php_version: null,
        stable_ips: null,
        offload_file_name: 'f',
        offload_file_content: 'c',
        created_at,
      })
      .execute();
    await queries
      .insertInto('domains')
      .values({
        id,
        install_id,
        name,
        is_cname: false,
        is_primary: !is_duplicate,
        is_duplicate,
        redirect_to_id: null,
        ssl_status,
        ssl_reason,
        created_at,
      })
      .execute();
    await queries
      .insertInto('certificates')
      .values({
        domain_id: id,
        source,
        chain: '',
        sealed_key: '',
        not_before: at(-76),
        not_after: at(domain.expires ?? 60),
        renew_at: domain.renews === undefined ? null : at(domain.renews),
        created_at,
      })
      .execute();
  });
}

test('none at all, and some in good order', async () => {
  expect(await found()).toMatchObject([{ check: 'domain certificates', state: 'ok' }]);
  await add('fresh.example', { expires: 60, renews: 30 });
  await add('stopgap.example', { ssl_status: 'pending', source: 'SELF_SIGNED', expires: 5 });
  await add('short.example', { expires: 6, renews: 4 });
  await add('copy.example', { ssl_status: 'failed', is_duplicate: true });
  await add('broken.example', { ssl_status: 'failed', install: 'failed' });
  expect(await found()).toMatchObject([{ state: 'ok' }]);
});

test('failed ones: up to three by name, with the reason of the first', async () => {
  await add('a.example', { ssl_status: 'failed', source: 'SELF_SIGNED', ssl_reason: 'Set the CNAME of it.' });
  expect(await found()).toMatchObject([
    {
      state: 'warning',
      message: '1 domain has no valid certificate: a.example. The first: Set the CNAME of it.',
      remedy: expect.stringContaining('retries by itself'),
    },
  ]);
  for (const name of ['b', 'c', 'd', 'e']) await add(`${name}.example`, { ssl_status: 'failed' });
  expect((await found())[0]?.message).toBe(
    '5 domains have no valid certificate: a.example, b.example, c.example and 2 more. The first: Set the CNAME of it.',
  );
});

test('a failed one without a reason, and without an authority', async () => {
  await add('a.example', { ssl_status: 'failed', source: 'SELF_SIGNED', expires: -1 });
  expect(await found({ acmeDirectory: null })).toMatchObject([
    {
      state: 'warning',
      message: '1 domain has no valid certificate: a.example.',
      remedy: expect.stringContaining('HOMEPORT_ACME_DIRECTORY'),
    },
  ]);
});

test.each([
  [14, 'warning'],
  [14.01, 'ok'],
  [0.1, 'warning'],
])('one due for renewal that expires in %d days: %s', async (expires, state) => {
  await add('a.example', { expires, renews: -10 });
  expect(await found()).toMatchObject([{ state }]);
});

test('expiring ones: up to three by name, soonest first, expired ones among them', async () => {
  await add('c.example', { expires: 9, renews: -1 });
  await add('a.example', { expires: 3 });
  expect(await found()).toMatchObject([
    {
      state: 'warning',
      message:
        '2 certificates were not renewed in time: a.example, c.example; the first expires on 2026-05-04.',
      remedy: expect.stringContaining('read the log'),
    },
  ]);
  // One that nobody was there to call failed.
  await add('b.example', { expires: -2, renews: 5 });
  await add('d.example', { expires: 10 });
  expect(await found({ acmeDirectory: null })).toMatchObject([
    {
      message:
        '4 certificates were not renewed in time: b.example, a.example, c.example and 1 more; the first expired on 2026-04-29.',
      remedy: expect.stringContaining('HOMEPORT_ACME_DIRECTORY'),
    },
  ]);
});

test('one that failed and one that expires are two findings', async () => {
  await add('a.example', { ssl_status: 'failed', expires: -1 });
  await add('b.example', { expires: 1 });
  expect((await found()).map(({ message }) => message)).toEqual([
    '1 domain has no valid certificate: a.example.',
    '1 certificate was not renewed in time: b.example; the first expires on 2026-05-02.',
  ]);
});
