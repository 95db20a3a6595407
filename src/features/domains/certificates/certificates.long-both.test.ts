import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activityOf } from '../../../../test/activity.ts';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyOn } from '../../../../test/only-on.ts';
import { PASSWORD, signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import type { Database } from '../../../database/database.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { applyInstall } from '../../websites/installs/jobs.ts';
import { ensureCertificates, installsToRenew } from './self-signed-certificates.ts';

/** A test of a rule, which runs once: other tests reach its queries. */
const rule = onlyOn('sqlite', it);

const CONTACT = 'hostmaster@operator.example';

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, environment: { HOMEPORT_ACME_CONTACT: CONTACT } });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

const domains = () => `/installs/${install.id}/domains`;

async function added(name: string): Promise<string> {
  const id = text((await owner.client.post(domains(), { name })).body, 'id');
  await homeport.idle();
  return id;
}

const certificateOf = (id: string, person = owner) => person.client.get(`${domains()}/${id}/ssl_certificate`);

describe('GET ssl_certificate', () => {
  rule('returns the certificate that the edge serves, with its key', async () => {
    const id = await added('secure.example');
    const answer = await certificateOf(id);
    expect(answer.status).toBe(200);
    const chain = text(answer.body, 'cert_info', 'cert');
    const key = text(answer.body, 'cert_info', 'key');
    const leaf = new X509Certificate(chain);
    expect(answer.body).toEqual({
      cert_name: 'secure.example',
      cert_info: { key, cert: chain },
      certificate: {
        id: expect.any(Number),
        account: accountId,
        auth_file: null,
        approver_email: null,
        common_name: 'secure.example',
        cancel_time: null,
        cert_source: 'SELF_SIGNED',
        ordered_time: clock.now().toISOString(),
        order_id: null,
        status: 'ENABLED',
        parent_id: null,
        provider_order_id: null,
        approved_time: clock.now().toISOString(),
        expires_time: leaf.validToDate.toISOString(),
        auto_renew: true,
        wildcard: false,
        domains: ['secure.example'],
        serial_number: leaf.serialNumber,
        issuer: 'secure.example',
      },
      criteria: 'secure.example',
    });
    expect(leaf.checkHost('secure.example')).toBe('secure.example');
    expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect((await visit(homeport, 'https://secure.example/')).certificateNames).toBe('DNS:secure.example');
  });

  rule('marks a wildcard', async () => {
    const answer = await certificateOf(await added('*.wild.example'));
    expect(answer.body).toMatchObject({
      cert_name: '*.wild.example',
      certificate: { wildcard: true, domains: ['*.wild.example'], common_name: '*.wild.example' },
    });
  });

  rule('returns the key only to owner and full users', async () => {
    const id = await added('key.example');
    const full = await homeport.person(accountId, 'full');
    const partial = await homeport.person(accountId, 'partial,billing', [install.id]);
    const whole = (await certificateOf(id)).body;
    expect((await certificateOf(id, full)).body).toEqual(whole);
    const shown = await certificateOf(id, partial);
    expect(field(shown.body, 'cert_info')).toEqual({
      key: '',
      cert: text(whole, 'cert_info', 'cert'),
    });
    const none = await homeport.person(accountId, 'partial');
    expect(await certificateOf(id, none)).toMatchObject(NOT_FOUND);
  });

  rule('shows the key to a browser after the password alone, and records it', async () => {
    const id = await added('asked.example');
    const key = text((await certificateOf(id)).body, 'cert_info', 'key');
    const browser = await signedIn(homeport, owner);
    const ask = (client: typeof browser, password: string) =>
      client.post(`/installs/${install.id}/domains/${id}/private_key`, { current_password: password });
    expect(
      field((await browser.get(`/v1${domains()}/${id}/ssl_certificate`)).body, 'cert_info'),
    ).toMatchObject({
      key: '',
    });
    expect(await ask(browser, 'not this one')).toMatchObject({ status: 400 });
    expect(await ask(browser, PASSWORD)).toMatchObject({ status: 200, body: { private_key: key } });
    expect((await activityOf(homeport, accountId)).at(-1)).toMatchObject({
      action: 'certificate.read_key',
      subject_name: 'asked.example',
      user_id: owner.userId,
    });
    const partial = await signedIn(homeport, await homeport.person(accountId, 'partial', [install.id]));
    expect((await ask(partial, PASSWORD)).status).toBe(403);
  });

  it('returns the approver only to owner and full users, and never approves before the order', async () => {
    const id = await added('approved.example');
    const created = clock.now().toISOString();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('certificates')
        .set({
          source: 'LETS_ENCRYPT',
          not_before: new Date(clock.now().getTime() - HOUR_MS).toISOString(),
        })
        .where('domain_id', '=', id)
        .execute(),
    );
    expect((await certificateOf(id)).body).toMatchObject({
      certificate: { approver_email: CONTACT, ordered_time: created, approved_time: created },
    });
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    expect((await certificateOf(id, partial)).body).toMatchObject({
      certificate: { approver_email: null, ordered_time: created },
    });
  });

  it('keeps the key sealed in the database', async () => {
    const id = await added('sealed.example');
    const row = await homeport.platform.database.reader
      .selectFrom('certificates')
      .select('sealed_key')
      .where('domain_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.sealed_key).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
    expect(row.sealed_key).not.toContain('PRIVATE');
  });

  rule('answers 404 for a missing certificate, a hidden or missing domain, and an invalid id', async () => {
    const other = await homeport.install(owner, accountId);
    const foreign = field((await owner.client.get(`/installs/${other.id}/domains`)).body, 'results', 0, 'id');
    const duplicate = await owner.client.post(`/installs/${other.id}/domains`, { name: 'secure.example' });
    await homeport.idle();
    for (const path of [
      `${domains()}/${foreign}`,
      `${domains()}/${crypto.randomUUID()}`,
      `${domains()}/x`,
      `/installs/${other.id}/domains/${text(duplicate.body, 'id')}`,
    ]) {
      expect(await owner.client.get(`${path}/ssl_certificate`), path).toMatchObject(NOT_FOUND);
    }
    const stranger = (await homeport.ownedAccount()).owner;
    const id = await added('hidden.example');
    expect(await certificateOf(id, stranger)).toMatchObject(NOT_FOUND);
  });
});

describe('the life of a self-signed certificate', () => {
  const rowOf = (id: string) =>
    homeport.platform.database.reader
      .selectFrom('certificates')
      .select(['source', 'chain', 'sealed_key'])
      .where('domain_id', '=', id)
      .executeTakeFirstOrThrow();

  async function replace(
    id: string,
    row: { source: 'LETS_ENCRYPT' | 'SELF_SIGNED'; sealed_key: string; not_after?: string },
  ): Promise<void> {
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('certificates').set(row).where('domain_id', '=', id).execute(),
    );
  }

  it('never replaces one that the authority issued meanwhile', async () => {
    const { platform } = homeport;
    const id = await added('overtaken.example');
    const { sealed_key } = await rowOf(id);
    await replace(id, { source: 'SELF_SIGNED', sealed_key, not_after: clock.now().toISOString() });
    const given = { source: 'LETS_ENCRYPT' as const, sealed_key: platform.sealer.seal('of the authority') };
    const overtaken: Database = {
      ...platform.database,
      async write(work) {
        await replace(id, given);
        return platform.database.write(work);
      },
    };
    const domains = [{ id, name: 'overtaken.example' }];
    await ensureCertificates({ ...platform, database: overtaken }, domains);
    expect(await rowOf(id)).toMatchObject(given);

    // Its key can no longer be opened.
    await replace(id, { ...given, sealed_key: 'v1.lost' });
    await ensureCertificates(platform, domains);
    expect(await rowOf(id)).toMatchObject({ source: 'SELF_SIGNED' });
  });

  rule('is renewed before it expires, and the edge serves the new one; else it expires', async () => {
    const id = await added('renewed.example');
    const serialOf = async () => {
      const { body } = await certificateOf(id);
      return new X509Certificate(text(body, 'cert_info', 'cert')).serialNumber;
    };
    const first = await serialOf();
    clock.advance(305 * DAY_MS - 60_000);
    expect(await installsToRenew(homeport.platform)).not.toContain(install.id);
    clock.advance(120_000);
    expect(await installsToRenew(homeport.platform)).toContain(install.id);
    expect((await certificateOf(id)).body).toMatchObject({ certificate: { status: 'ENABLED' } });
    clock.advance(61 * DAY_MS);
    // The edge still serves it, so its status is shown.
    expect((await certificateOf(id)).body).toMatchObject({ certificate: { status: 'EXPIRED' } });

    const { database, queue } = homeport.platform;
    await database.write((transaction) =>
      queue.enqueue(transaction, applyInstall, { payload: { id: install.id }, lane: install.id }),
    );
    await homeport.idle();
    const renewed = await certificateOf(id);
    expect(renewed.body).toMatchObject({ certificate: { status: 'ENABLED' } });
    expect(await serialOf()).not.toBe(first);
    expect(await installsToRenew(homeport.platform)).not.toContain(install.id);
    expect((await visit(homeport, 'https://renewed.example/')).certificateNames).toBe('DNS:renewed.example');
  });
});
