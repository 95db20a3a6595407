import { afterAll, beforeAll, expect } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import type { Person, TestHomeport } from '../../../../test/homeport.ts';
import type { ManualClock } from '../../../../test/manual-clock.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { certificateMaker, pkcs8 } from '../../../../test/servers/certificate-maker.ts';
import type { DnsTestServers } from '../../../../test/servers/dns-server.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { requestOrders } from './attempts.ts';
import { HERE, ordering, startOrderingHomeport } from './authority.fixture.ts';
import { orderCertificates } from './jobs.ts';
import { recordValidation } from './validations.ts';

const { describe, it } = ordering;

const CONTACT_DATA = {
  email_address: 'ada@person.example',
  given_name: 'Ada',
  family_name: 'Kept-Nowhere',
  region_code: 'GB',
};

let dns: DnsTestServers;
let clock: ManualClock;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };

let remove: () => Promise<void>;
beforeAll(async () => {
  ({ dns, clock, homeport, accountId, owner, remove } = await startOrderingHomeport());
  install = await homeport.install(owner, accountId);
});
afterAll(() => remove?.());

interface Added {
  id: string;
  name: string;
  path: string;
}

async function added(name: string): Promise<Added> {
  const id = text((await owner.client.post(`/installs/${install.id}/domains`, { name })).body, 'id');
  await homeport.idle();
  return { id, name, path: `/installs/${install.id}/domains/${id}/ssl_certificate` };
}

/** Orders a certificate and waits. Returns the status of the operation and the message of its error. */
async function ordered({ path }: Added): Promise<{ status: unknown; message: unknown }> {
  clock.advance(5_000);
  const answer = await owner.client.post(path, CONTACT_DATA);
  expect(answer).toMatchObject({ status: 202, body: undefined });
  await homeport.idle();
  const location = String(answer.headers.location).replace(/^.*\/v1/, '');
  const { body } = await owner.client.get(location);
  expect(body).toMatchObject({ kind: 'certificate.order', install: { id: install.id } });
  const error = field(body, 'error');
  return { status: field(body, 'status'), message: error === null ? null : field(body, 'error', 'message') };
}

async function row({ id }: Added) {
  return homeport.platform.database.reader
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .leftJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
    .select(['domain.ssl_status', 'domain.ssl_reason', 'certificate.source', 'certificate.chain'])
    .select(['certificate.not_after', 'attempt.order_id'])
    .where('domain.id', '=', id)
    .executeTakeFirstOrThrow();
}

async function uploaded(names: string[], days = 10): Promise<void> {
  const make = certificateMaker(clock.now());
  const root = await make({ name: 'Private Root' });
  const leaf = await make({ name: 'uploaded', names, days: [-1, days] }, root);
  clock.advance(5_000);
  const answer = await owner.client.post(`/installs/${install.id}/ssl_certificates/third_party`, {
    certificate: leaf.pem + root.pem,
    private_key: pkcs8(leaf.key),
  });
  expect(answer.status).toBe(200);
  await homeport.idle();
}

/** Queues the due orders, as the schedule does each minute. */
async function minute(): Promise<void> {
  await homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, orderCertificates, { payload: {}, lane: null }),
  );
  await homeport.idle();
}

describe('POST ssl_certificate', () => {
  it('orders a new certificate, and keeps no contact data', async () => {
    const domain = await added('now.here.example');
    const before = await row(domain);
    expect(before.source).toBe('LETS_ENCRYPT');
    expect(await ordered(domain)).toEqual({ status: 'succeeded', message: null });
    const after = await row(domain);
    expect(after).toMatchObject({ source: 'LETS_ENCRYPT', ssl_status: 'active' });
    expect(after.chain).not.toBe(before.chain);
    const { reader } = homeport.platform.database;
    for (const table of ['jobs', 'activity'] as const) {
      const rows = await reader.selectFrom(table).selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain(CONTACT_DATA.family_name);
    }
  });

  it('ends with the reason, and leaves a valid certificate as it is', async () => {
    await dns.setZone('leaves.example', HERE);
    const domain = await added('leaves.example');
    const before = await row(domain);
    await dns.setZone('leaves.example', '');
    expect(await ordered(domain)).toEqual({
      status: 'failed',
      message: expect.stringContaining('leaves.example'),
    });
    await minute();
    expect(await row(domain)).toEqual(before);
  });

  it('says why none can be issued: a wildcard, a name of another install, too many orders', async () => {
    const wildcard = await added('*.wild.here.example');
    expect(await ordered(wildcard)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('DNS validation'),
    });
    const failed = await homeport.platform.database.reader
      .selectFrom('operations')
      .select('error_code')
      .orderBy('seq', 'desc')
      .executeTakeFirst();
    // The advice of `certificate_refused` is to wait for the next automatic order.
    expect(failed).toEqual({ error_code: 'failed' });
    const other = await homeport.install(owner, accountId);
    await owner.client.post(`/installs/${other.id}/domains`, { name: 'taken.here.example' });
    const duplicate = await added('taken.here.example');
    expect(await ordered(duplicate)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('does not serve the domain'),
    });
    expect((await row(duplicate)).order_id).toBeNull();
    const often = await added('often.here.example');
    await homeport.platform.database.write(async (transaction) => {
      for (let n = 0; n < 3; n++) await recordValidation(transaction, clock, often.name);
    });
    expect(await ordered(often)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('last hour'),
    });
  });

  onlyInLong(it)('is limited to once in 5 seconds for an install, and accepts any body', async () => {
    const domain = await added('limited.here.example');
    clock.advance(5_000);
    expect((await owner.client.call('POST', domain.path, { raw: '{"broken' })).status).toBe(202);
    expect(await owner.client.post(domain.path)).toMatchObject({
      status: 429,
      body: {
        message: 'Certificate orders are rate-limited to one request every 5 seconds for each install',
      },
    });
    await homeport.idle();
  });
});

describe('an uploaded certificate', () => {
  it('is kept by automatic orders while it is valid, and replaced when it expires', async () => {
    const domain = await added('kept.here.example');
    await uploaded([domain.name]);
    const { chain } = await row(domain);
    await homeport.platform.database.write((transaction) =>
      requestOrders(transaction, homeport.platform, [{ ...domain, install_id: install.id }]),
    );
    await homeport.idle();
    clock.advance(8 * DAY_MS);
    await minute();
    expect(await row(domain)).toMatchObject({ source: 'THIRD_PARTY', chain, ssl_status: 'active' });
    clock.advance(2 * DAY_MS + MINUTE_MS);
    await minute();
    expect(await row(domain)).toMatchObject({ source: 'LETS_ENCRYPT', ssl_status: 'active' });
  });

  onlyInLong(it)('wins over an order that is running', async () => {
    const domain = await added('running.here.example');
    await homeport.platform.database.write((transaction) =>
      requestOrders(transaction, homeport.platform, [{ ...domain, install_id: install.id }]),
    );
    await uploaded([domain.name]);
    expect(await row(domain)).toMatchObject({ source: 'THIRD_PARTY' });
  });

  onlyInLong(it)('serves a domain whose order failed, and removes the reason', async () => {
    await dns.setZone('away.example', '@ A 127.0.0.9\n');
    const domain = await added('away.example');
    expect(await row(domain)).toMatchObject({ ssl_status: 'failed', ssl_reason: expect.any(String) });
    await uploaded([domain.name]);
    expect(await row(domain)).toMatchObject({
      source: 'THIRD_PARTY',
      ssl_status: 'active',
      ssl_reason: null,
    });
  });

  onlyInLong(it)('gives way to an order of a user', async () => {
    const domain = await added('back.here.example');
    await uploaded([domain.name]);
    expect(await ordered(domain)).toMatchObject({ status: 'succeeded' });
    expect(await row(domain)).toMatchObject({ source: 'LETS_ENCRYPT' });
  });
});
