import { X509Certificate } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import type { Person, TestHomeport } from '../../../../test/homeport.ts';
import type { ManualClock } from '../../../../test/manual-clock.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import type { AcmeServer } from '../../../../test/servers/acme-server.ts';
import type { DnsTestServers } from '../../../../test/servers/dns-server.ts';
import type { Caller } from '../../../access/caller.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { domainStates } from '../domains/states.ts';
import { requestOrders } from './attempts.ts';
import { HERE, ordering, startOrderingHomeport } from './authority.fixture.ts';
import { orderCertificates } from './jobs.ts';
import { recordValidation } from './validations.ts';

const { describe, it } = ordering;
let dns: DnsTestServers;
let acme: AcmeServer;
let clock: ManualClock;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;

let remove: () => Promise<void>;
beforeAll(async () => {
  ({ dns, acme, clock, homeport, accountId, owner, remove } = await startOrderingHomeport({
    HOMEPORT_ACME_CONTACT: 'hostmaster@operator.example',
  }));
});
afterAll(() => remove?.());

let install: { id: string; name: string };
beforeEach(async () => {
  install = await homeport.install(owner, accountId);
});
/** Without this, each test would renew the certificates of earlier tests. */
afterEach(async () => {
  await owner.client.delete(`/installs/${install.id}`);
  await homeport.idle();
});

interface Added {
  id: string;
  name: string;
  path: string;
}

async function added(name: string): Promise<Added> {
  const answer = await owner.client.post(`/installs/${install.id}/domains`, { name });
  expect(answer.status).toBe(201);
  await homeport.idle();
  const id = text(answer.body, 'id');
  return { id, name, path: `/installs/${install.id}/domains/${id}` };
}

const reading = (): Caller => ({
  userId: owner.userId,
  limits: null,
  origin: { means: 'portal', credentialId: null, address: '203.0.113.7', requestId: 'test' },
});

async function sslOf({ path }: Added): Promise<unknown> {
  return field((await owner.client.get(path)).body, 'network_details', 'network_info', 'ssl', 'status');
}

async function row({ id }: Added) {
  return homeport.platform.database.reader
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .leftJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
    .select([
      'domain.ssl_reason',
      'domain.reached',
      'certificate.source',
      'certificate.chain',
      'certificate.not_after',
      'certificate.renew_at',
      'attempt.failures',
      'attempt.next_at',
    ])
    .where('domain.id', '=', id)
    .executeTakeFirstOrThrow();
}

/** Queues the due orders, as the schedule does each minute. */
async function minute(): Promise<void> {
  await homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, orderCertificates, { payload: {}, lane: null }),
  );
  await homeport.idle();
}

async function validationsOf(name: string): Promise<number> {
  const rows = await homeport.platform.database.reader
    .selectFrom('acme_validations')
    .select('seq')
    .where('name', '=', name)
    .execute();
  return rows.length;
}

describe('a domain that leads here', () => {
  it('gets a certificate when it is added, and the edge serves it and redirects visitors to HTTPS', async () => {
    const domain = await added('shop.here.example');
    expect(await sslOf(domain)).toBe('active');
    const root = new X509Certificate(await acme.root());
    const answer = await owner.client.get(`${domain.path}/ssl_certificate`);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        cert_name: domain.name,
        criteria: domain.name,
        certificate: {
          cert_source: 'LETS_ENCRYPT',
          status: 'ENABLED',
          auto_renew: true,
          wildcard: false,
          approver_email: 'hostmaster@operator.example',
          common_name: domain.name,
          domains: [domain.name],
          order_id: expect.any(String),
          provider_order_id: expect.stringContaining('https://'),
        },
      },
    });
    const pems = text(answer.body, 'cert_info', 'cert').match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g);
    const [leaf, intermediate] = (pems ?? []).map((pem) => new X509Certificate(pem));
    expect(leaf?.checkIssued(intermediate ?? root)).toBe(true);
    expect(intermediate?.verify(root.publicKey)).toBe(true);
    const seen = await visit(homeport, `https://${domain.name}/`);
    expect(seen).toMatchObject({ status: 200, certificateNames: `DNS:${domain.name}` });
    expect(seen.fingerprint).toBe(leaf?.fingerprint256);
    await owner.client.patch(domain.path, { secure_all_urls: true });
    await homeport.idle();
    expect(await visit(homeport, `http://${domain.name}/`)).toMatchObject({ status: 301 });
  });

  onlyInLong(it)('has one for each name, including the default domain', async () => {
    const domain = await added('apart.here.example');
    const own = text((await owner.client.get(`/installs/${install.id}/domains`)).body, 'results', 0, 'id');
    const path = `/installs/${install.id}/domains/${own}/ssl_certificate`;
    expect((await owner.client.get(path)).body).toMatchObject({
      certificate: { cert_source: 'LETS_ENCRYPT', domains: [`${install.name}.sites.example`] },
    });
    expect((await row(domain)).reached).toBe(true);
  });

  onlyInLong(it)('keeps its certificate without another order', async () => {
    const domain = await added('keeps.here.example');
    const { chain } = await row(domain);
    clock.advance(DAY_MS);
    await minute();
    await owner.client.patch(domain.path, { secure_all_urls: true });
    await homeport.idle();
    expect((await row(domain)).chain).toBe(chain);
    expect(await validationsOf(domain.name)).toBe(1);
  });
});

describe('a domain that does not lead here', () => {
  it('shows why, requests no validation, and gets its certificate once the DNS is right', async () => {
    await dns.setZone('away.example', '@ A 127.0.0.9\n');
    const domain = await added('away.example');
    expect(await sslOf(domain)).toBe('failed');
    expect(await row(domain)).toMatchObject({
      source: 'SELF_SIGNED',
      reached: false,
      failures: 1,
      ssl_reason: expect.stringContaining('away.example'),
    });
    expect(field((await owner.client.get(domain.path)).body, 'network_details', 'network_info')).toEqual({
      status: 'FAILED',
      ssl: { status: 'failed' },
    });
    expect(await validationsOf(domain.name)).toBe(0);
    await owner.client.patch(domain.path, { secure_all_urls: true });
    await homeport.idle();
    expect(await visit(homeport, `http://${domain.name}/`)).toMatchObject({ status: 200 });

    await dns.setZone('away.example', HERE);
    await minute();
    expect((await row(domain)).failures).toBe(1);
    clock.advance(2 * MINUTE_MS);
    await minute();
    expect(await row(domain)).toMatchObject({ source: 'LETS_ENCRYPT', reached: true, ssl_reason: null });
    expect(await sslOf(domain)).toBe('active');
    expect(await visit(homeport, `http://${domain.name}/`)).toMatchObject({ status: 301 });
  });

  onlyInLong(it)('is retried at once when a status report sees it arrive', async () => {
    await dns.setZone('mended.example', '');
    const domain = await added('mended.example');
    expect(await sslOf(domain)).toBe('failed');
    await dns.setZone('mended.example', HERE);
    clock.advance(60_000);
    expect((await owner.client.post(`${domain.path}/check_status`)).status).toBe(202);
    await homeport.idle();
    expect(await row(domain)).toMatchObject({ source: 'LETS_ENCRYPT', failures: 0 });
  });

  onlyInLong(it)('is retried at growing intervals', async () => {
    await dns.setZone('rising.example', '');
    const domain = await added('rising.example');
    const pauses: number[] = [];
    for (let tried = 1; tried <= 6; tried++) {
      const { failures, next_at } = await row(domain);
      expect(failures).toBe(tried);
      const pause = Date.parse(next_at ?? '') - clock.now().getTime();
      pauses.push(pause);
      clock.advance(pause);
      await minute();
    }
    expect(pauses.every((pause, index) => pause > (pauses[index - 1] ?? 0))).toBe(true);
    expect(pauses[0]).toBeLessThan(2 * MINUTE_MS);
    expect(pauses[5]).toBeGreaterThan(0.7 * HOUR_MS);
  });
});

it('does not order a certificate that CAA forbids, and says which record to add', async () => {
  await dns.setZone('guarded.example', `${HERE}@ CAA 0 issue "other-authority.example"\n`);
  const domain = await added('guarded.example');
  expect(await sslOf(domain)).toBe('failed');
  expect((await row(domain)).ssl_reason).toMatch(/CAA.*guarded\.example|guarded\.example.*CAA/);
  expect(await validationsOf(domain.name)).toBe(0);
});

onlyInLong(it)('does not order wildcards, which affects no other name', async () => {
  const wildcard = await added('*.wild.here.example');
  expect(await sslOf(wildcard)).toBe('failed');
  const refused = await row(wildcard);
  expect(refused.ssl_reason).toContain('needs DNS validation');
  clock.advance(DAY_MS);
  await minute();
  // No order was tried again.
  expect(await row(wildcard)).toEqual(refused);
  const [state] = (await domainStates(homeport.platform.database.reader, reading(), install.id)).filter(
    ({ domain_id }) => domain_id === wildcard.id,
  );
  expect(state).toMatchObject({ ssl_reason: refused.ssl_reason, retry_at: null });
  const beside = await added('beside.here.example');
  expect(await sslOf(beside)).toBe('active');
});

describe('a certificate that grows old', () => {
  it('is renewed with a third of its lifetime left, and not before', async () => {
    const domain = await added('renewed.here.example');
    const { chain, renew_at } = await row(domain);
    const until = Date.parse(renew_at ?? '') - clock.now().getTime();
    clock.advance(until - HOUR_MS);
    await minute();
    expect((await row(domain)).chain).toBe(chain);
    clock.advance(2 * HOUR_MS);
    await minute();
    const renewed = await row(domain);
    expect(renewed.chain).not.toBe(chain);
    expect((await visit(homeport, `https://${domain.name}/`)).fingerprint).toBe(
      new X509Certificate(renewed.chain ?? '').fingerprint256,
    );
  });

  it('stays in use while its renewal fails, and redirects no one to HTTPS after it has expired', async () => {
    await dns.setZone('lapses.example', HERE);
    const domain = await added('lapses.example');
    await owner.client.patch(domain.path, { secure_all_urls: true });
    await dns.setZone('lapses.example', '');
    const { not_after, renew_at } = await row(domain);
    clock.advance(Date.parse(renew_at ?? '') - clock.now().getTime() + HOUR_MS);
    await minute();
    expect(await row(domain)).toMatchObject({ source: 'LETS_ENCRYPT', ssl_reason: expect.any(String) });
    expect(await sslOf(domain)).toBe('active');
    expect(await visit(homeport, `http://${domain.name}/`)).toMatchObject({ status: 301 });

    clock.advance(Date.parse(not_after ?? '') - clock.now().getTime() + HOUR_MS);
    expect(await visit(homeport, `http://${domain.name}/`)).toMatchObject({ status: 200 });
    await minute();
    expect(await sslOf(domain)).toBe('failed');
    const shown = (await owner.client.get(`${domain.path}/ssl_certificate`)).body;
    expect(shown).toMatchObject({ certificate: { status: 'EXPIRED', cert_source: 'LETS_ENCRYPT' } });
  });
});

it('creates one account for all orders, with a sealed key', async () => {
  const accounts = await homeport.platform.database.reader.selectFrom('acme_accounts').selectAll().execute();
  expect(accounts).toMatchObject([
    { directory_url: acme.directoryUrl, account_url: expect.stringContaining('https://') },
  ]);
  expect(accounts[0]?.sealed_key).toMatch(/^v1\./);
});

onlyInLong(it)('registers again with an authority that has lost the account', async () => {
  await acme.restart();
  const domain = await added('again.here.example');
  if ((await row(domain)).source !== 'LETS_ENCRYPT') {
    clock.advance(2 * MINUTE_MS);
    await minute();
  }
  expect(await row(domain)).toMatchObject({ source: 'LETS_ENCRYPT', ssl_reason: null });
});

describe('limits', () => {
  const hook = (domain: Added) =>
    homeport.platform.database.reader
      .selectFrom('certificate_attempts')
      .selectAll()
      .where('domain_id', '=', domain.id)
      .executeTakeFirstOrThrow();

  async function spendValidations(name: string, count: number): Promise<void> {
    await homeport.platform.database.write(async (transaction) => {
      for (let n = 0; n < count; n++) await recordValidation(transaction, clock, name);
    });
  }

  it('requests no fifth validation within an hour, keeps the reason, and continues afterwards', async () => {
    await dns.setZone('spent.example', '');
    const domain = await added('spent.example');
    const { ssl_reason, failures } = await row(domain);
    await dns.setZone('spent.example', HERE);
    await spendValidations(domain.name, 4);
    clock.advance(2 * MINUTE_MS);
    await minute();
    expect(await row(domain)).toMatchObject({ source: 'SELF_SIGNED', ssl_reason, failures });
    expect(await validationsOf(domain.name)).toBe(4);
    clock.advance(HOUR_MS);
    await minute();
    expect(await row(domain)).toMatchObject({ source: 'LETS_ENCRYPT', ssl_reason: null });
  });

  onlyInLong(it)('checks the limit in the transaction that records a request', async () => {
    const name = 'counted.example';
    await spendValidations(name, 3);
    const both = await Promise.allSettled([spendValidations(name, 1), spendValidations(name, 1)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await validationsOf(name)).toBe(4);
  });

  onlyInLong(it)('lets a status report retry early, but not before Retry-After', async () => {
    await dns.setZone('held.example', '');
    const domain = await added('held.example');
    await dns.setZone('held.example', HERE);
    const held_until = new Date(clock.now().getTime() + HOUR_MS).toISOString();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('certificate_attempts')
        .set({ held_until, next_at: held_until })
        .where('domain_id', '=', domain.id)
        .execute(),
    );
    const report = async () => {
      clock.advance(5_000);
      await owner.client.post(`${domain.path}/check_status`);
      await homeport.idle();
    };
    await report();
    await report();
    expect(await hook(domain)).toMatchObject({ failures: 1, next_at: held_until });
    clock.advance(HOUR_MS);
    await report();
    expect((await row(domain)).source).toBe('LETS_ENCRYPT');
  });

  onlyInLong(it)('uses only the order that was queued last', async () => {
    await dns.setZone('twice.example', '');
    const domain = await added('twice.example');
    await homeport.platform.database.write((transaction) =>
      requestOrders(transaction, homeport.platform, Array(3).fill({ ...domain, install_id: install.id })),
    );
    await homeport.idle();
    expect((await row(domain)).failures).toBe(2);
  });

  onlyInLong(it)('ignores a domain that is deleted during its order', async () => {
    const answer = await owner.client.post(`/installs/${install.id}/domains`, { name: 'gone.here.example' });
    const deleted = await owner.client.delete(`/installs/${install.id}/domains/${text(answer.body, 'id')}`);
    expect(deleted.status).toBe(204);
    await homeport.idle();
    const left = await homeport.platform.database.reader
      .selectFrom('jobs')
      .select('id')
      .where('kind', '=', 'obtain_certificate')
      .where('state', '=', 'failed')
      .execute();
    expect(left).toEqual([]);
  });

  onlyInLong(it)('orders again after a change of the authority', async () => {
    const domain = await added('other-authority.here.example');
    const { chain } = await row(domain);
    await homeport.platform.database.write(async ({ queries }) => {
      await queries
        .updateTable('certificates')
        .set({ directory_url: 'https://staging.example/directory' })
        .where('domain_id', '=', domain.id)
        .execute();
      await queries
        .updateTable('certificate_attempts')
        .set({ next_at: clock.now().toISOString() })
        .where('domain_id', '=', domain.id)
        .execute();
    });
    await minute();
    expect((await row(domain)).chain).not.toBe(chain);
  });
});
