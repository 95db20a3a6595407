import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../../test/client.ts';
import { visit } from '../../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../../test/homeport.ts';
import { mailsTo } from '../../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../../test/manual-clock.ts';
import { NOT_FOUND } from '../../../../../test/refusal.ts';
import {
  certificateMaker,
  type MadeCertificate,
  pkcs8,
  type WantedCertificate,
} from '../../../../../test/servers/certificate-maker.ts';
import { operatorFor } from '../../../../access/caller.ts';
import type { JobKind } from '../../../../jobs/job.ts';
import { DAY_MS, HOUR_MS } from '../../../../lib/durations.ts';
import { createMailer } from '../../../../mail/mailer.ts';
import { applyInstall } from '../../../websites/installs/jobs.ts';
import { installsToRenew } from '../self-signed-certificates.ts';
import { uploadExpiryWarnings } from './expiry-warnings.ts';

let clock: ManualClock;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let root: MadeCertificate;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  root = await certificateMaker(clock.now())({ name: 'Test Root', days: [-10, 3650] });
});
afterAll(() => homeport?.remove());

interface Install {
  id: string;
  name: string;
}

/** An install with these domains, and their ids. */
async function installWith(...names: string[]): Promise<Install & { domains: string[] }> {
  const install = await homeport.install(owner, accountId);
  const domains: string[] = [];
  for (const name of names) {
    domains.push(text((await owner.client.post(`/installs/${install.id}/domains`, { name })).body, 'id'));
  }
  await homeport.idle();
  return { ...install, domains };
}

async function made(names: string[], wanted: Partial<WantedCertificate> = {}) {
  const leaf = await certificateMaker(clock.now())({ name: names[0] ?? '', names, ...wanted }, root);
  return { leaf, body: { certificate: leaf.pem + root.pem, private_key: pkcs8(leaf.key) } };
}

const upload = (install: Install, body: object, person = owner) => {
  clock.advance(5_000);
  return person.client.post(`/installs/${install.id}/ssl_certificates/third_party`, body);
};

const list = async (install: Install, query = '') =>
  (await owner.client.get(`/installs/${install.id}/ssl_certificates${query}`)).body;

const servedAt = async (name: string) => (await visit(homeport, `https://${name}/`)).fingerprint;
const fingerprintOf = ({ pem }: MadeCertificate) => new X509Certificate(pem).fingerprint256;

async function apply({ id }: Install): Promise<void> {
  await homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, applyInstall, { payload: { id }, lane: id }),
  );
  await homeport.idle();
}

describe('an uploaded certificate', () => {
  it('is served for every domain that it covers, and the key is never returned', async () => {
    const install = await installWith('up.example', 'www.up.example', 'a.b.up.example', 'other.example');
    const { leaf, body } = await made(['up.example', '*.up.example']);
    const answer = await upload(install, body);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      certificate: body.certificate,
      private_key: '',
      domains: ['up.example', 'www.up.example'],
      expires_time: leaf.certificate.notAfter.toISOString(),
      serial_number: new X509Certificate(leaf.pem).serialNumber,
    });
    await homeport.idle();
    for (const name of ['up.example', 'www.up.example'])
      expect(await servedAt(name)).toBe(fingerprintOf(leaf));
    for (const name of ['a.b.up.example', 'other.example']) {
      expect((await visit(homeport, `https://${name}/`)).certificateNames).toBe(`DNS:${name}`);
    }
    const one = await owner.client.get(
      `/installs/${install.id}/domains/${install.domains[1]}/ssl_certificate`,
    );
    expect(one.body).toMatchObject({
      cert_info: { key: '', cert: leaf.pem },
      certificate: { cert_source: 'THIRD_PARTY', auto_renew: false, wildcard: true, issuer: 'Test Root' },
    });
    const rows = await homeport.platform.database.reader
      .selectFrom('certificates')
      .select('sealed_key')
      .where('source', '=', 'THIRD_PARTY')
      .execute();
    for (const { sealed_key } of rows) expect(sealed_key).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
  });

  it('is used by domains that are added later, until it expires', async () => {
    const install = await installWith('late.example');
    const { leaf, body } = await made(['late.example', '*.late.example'], { days: [-1, 30] });
    expect((await upload(install, body)).status).toBe(200);
    await owner.client.post(`/installs/${install.id}/domains`, { name: 'new.late.example' });
    await owner.client.post(`/installs/${install.id}/domains`, { name: '*.late.example' });
    await homeport.idle();
    for (const name of ['new.late.example', 'any.late.example']) {
      expect(await servedAt(name), name).toBe(fingerprintOf(leaf));
    }
    expect(await list(install)).toMatchObject({
      certificates: [{ cert_source: 'SELF_SIGNED' }, { domains: ['late.example', '*.late.example'] }],
      next_page_token: '',
    });
    const shared = field(await list(install), 'certificates', 1, 'id');
    const states = await homeport.services.domains.states(operatorFor(owner.userId), install.id);
    expect(states.slice(1).map(({ certificate }) => certificate?.id)).toEqual([shared, shared, shared]);

    clock.advance(31 * DAY_MS);
    expect(await list(install)).toMatchObject({ certificates: [{}, { status: 'EXPIRED' }] });
    expect(await installsToRenew(homeport.platform)).toContain(install.id);
    await apply(install);
    expect((await visit(homeport, 'https://new.late.example/')).certificateNames).toBe(
      'DNS:new.late.example',
    );
    expect(await installsToRenew(homeport.platform)).not.toContain(install.id);
  });

  it('replaces an earlier one, RSA too', async () => {
    const install = await installWith('again.example');
    const first = await made(['again.example']);
    const second = await made(['again.example'], { keys: 'rsa2048' });
    for (const { body } of [first, second]) expect((await upload(install, body)).status).toBe(200);
    await homeport.idle();
    expect(await servedAt('again.example')).toBe(fingerprintOf(second.leaf));
  });

  it('redirects visitors to HTTPS if the domain asks for it', async () => {
    const install = await installWith('secure.up.example');
    await upload(install, (await made(['secure.up.example'])).body);
    await owner.client.patch(`/installs/${install.id}/domains/${install.domains[0]}`, {
      secure_all_urls: true,
    });
    await homeport.idle();
    expect((await visit(homeport, 'http://secure.up.example/')).status).toBe(301);
  });

  it('can be uploaded by partial users of the install, and by no one else', async () => {
    const install = await installWith('mine.example');
    const { body } = await made(['mine.example']);
    const partial = await homeport.person(accountId, 'partial', [install.id]);
    expect((await upload(install, body, partial)).status).toBe(200);
    const without = await homeport.person(accountId, 'partial');
    expect(await upload(install, body, without)).toMatchObject(NOT_FOUND);
  });

  it('is recorded without the key', async () => {
    const install = await installWith('noted.example');
    await upload(install, (await made(['noted.example'])).body);
    const { details } = await homeport.platform.database.reader
      .selectFrom('activity')
      .select('details')
      .where('action', '=', 'certificate.upload')
      .where('install_id', '=', install.id)
      .executeTakeFirstOrThrow();
    expect(details).toEqual({ domains: 1, expires: expect.any(String) });
  });
});

describe('an upload is refused', () => {
  it('with every fault, and loses nothing', async () => {
    const install = await installWith('kept.example');
    const before = await list(install);
    const { body } = await made(['elsewhere.example']);
    expect(await upload(install, { certificate: 'x', private_key: 'y' })).toMatchObject({
      status: 400,
      body: {
        message: expect.stringContaining('holds no certificate'),
        errors: [
          { resource: 'Certificate', field: 'certificate', type: 'invalid_value', code: 'invalid_pem' },
          { resource: 'Certificate', field: 'private_key', type: 'invalid_value', code: 'invalid_pem' },
        ],
      },
    });
    expect(await upload(install, body)).toMatchObject({
      status: 400,
      body: {
        message: `The certificate is for elsewhere.example, and the install serves ${install.name}.localhost, kept.example. Add the domain to the install first, or upload a certificate for one of its domains.`,
        errors: [{ code: 'covers_no_domain' }],
      },
    });
    expect(await upload(install, {})).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'certificate' }, { field: 'private_key' }] },
    });
    expect(await upload(install, { ...body, certificate: body.certificate.repeat(200) })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'certificate', code: 'too_long' }] },
    });
    expect((await upload(install, { ...body, certificate: 'A'.repeat(2_000_000) })).status).toBe(400);
    expect(await list(install)).toEqual(before);
  });

  it('more than once in 5 seconds', async () => {
    const install = await installWith('often.example');
    const { body } = await made(['often.example']);
    expect((await upload(install, body)).status).toBe(200);
    const again = await owner.client.post(`/installs/${install.id}/ssl_certificates/third_party`, body);
    expect(again).toMatchObject({
      status: 429,
      body: {
        message: 'Certificate uploads are rate-limited to one request every 5 seconds for each install',
      },
    });
  });
});

describe('the list of certificates', () => {
  it('has one item for each certificate, in pages', async () => {
    const install = await installWith('list.example', 'www.list.example', 'other.list.example');
    await upload(install, (await made(['list.example', 'www.list.example'])).body);
    const all = field(await list(install), 'certificates');
    expect(all).toMatchObject([
      {
        domains: [`${install.name}.localhost`],
        cert_source: 'SELF_SIGNED',
        serial_number: expect.any(String),
      },
      { domains: ['list.example', 'www.list.example'], cert_source: 'THIRD_PARTY', issuer: 'Test Root' },
      { domains: ['other.list.example'] },
    ]);
    expect(JSON.stringify(all)).not.toContain('PRIVATE');
    const first = await list(install, '?limit=2');
    expect(first).toMatchObject({ certificates: [{}, {}], next_page_token: '2' });
    expect(await list(install, '?limit=2&offset=2')).toMatchObject({
      certificates: [{ domains: ['other.list.example'] }],
      next_page_token: '',
    });
    // The endpoint lists no 400.
    expect(await list(install, '?limit=x&offset=-1')).toEqual({ certificates: all, next_page_token: '' });
  });

  it('is empty for an install that is not served yet, or failed', async () => {
    const { platform } = homeport;
    for (const status of ['pending', 'failed'] as const) {
      const { id, name } = await homeport.install(owner, accountId);
      await platform.database.write(async ({ queries }) => {
        const domains = queries.selectFrom('domains').select('id').where('install_id', '=', id);
        await queries.deleteFrom('certificates').where('domain_id', 'in', domains).execute();
        await queries.updateTable('installs').set({ status }).where('id', '=', id).execute();
      });
      expect(await list({ id, name })).toEqual({ certificates: [], next_page_token: '' });
      expect(await upload({ id, name }, (await made([`${name}.localhost`])).body)).toMatchObject({
        status: 200,
      });
      await homeport.idle();
      expect(await list({ id, name })).toMatchObject({ certificates: [{ cert_source: 'THIRD_PARTY' }] });
    }
  });
});

describe('warnings', () => {
  let warn: JobKind;
  beforeAll(() => {
    warn = uploadExpiryWarnings(homeport.platform, createMailer(homeport.config, clock)).warn;
  });

  async function subjects(): Promise<string[]> {
    clock.advance(1000);
    const before = mailsTo(homeport, owner.email).length;
    await homeport.platform.database.write((transaction) =>
      homeport.platform.queue.enqueue(transaction, warn, { payload: {}, lane: null }),
    );
    await homeport.idle();
    return mailsTo(homeport, owner.email)
      .slice(before)
      .map((mail) => mail.subject);
  }

  it('reach the owners once at 30, 14, 7 and 1 days, one for each certificate', async () => {
    await subjects();
    const install = await installWith('warned.example', 'www.warned.example');
    await upload(install, (await made(['warned.example', 'www.warned.example'], { days: [0, 90] })).body);
    expect(await subjects()).toEqual([]);
    const named = 'The certificate that you uploaded for warned.example';
    for (const [days, subject] of [
      [61, `${named} expires in 29 days`],
      [16, `${named} expires in 13 days`],
      [7, `${named} expires in 6 days`],
      [5.5, `${named} expires within a day`],
    ] as const) {
      clock.advance(days * DAY_MS);
      expect(await subjects()).toContain(subject);
      expect(await subjects()).toEqual([]);
    }
    const mail = mailsTo(homeport, owner.email).find(({ subject }) => subject.startsWith(named));
    expect(mail?.text).toContain(`/installs/${install.id}/certificates`);
    expect(mail?.text).toContain('  www.warned.example\n');
    expect(mail?.text).toContain('/unsubscribe/');
  });

  it('come in the last third of a short-lived certificate', async () => {
    await subjects();
    const install = await installWith('short.example');
    await upload(install, (await made(['short.example'], { days: [0, 6] })).body);
    expect(await subjects()).toEqual([]);
    clock.advance(4 * DAY_MS + HOUR_MS);
    expect(await subjects()).toEqual([
      'The certificate that you uploaded for short.example expires in 2 days',
    ]);
  });
});
