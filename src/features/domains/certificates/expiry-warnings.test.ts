import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { mailsTo } from '../../../../test/mails.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { runningJob } from '../../../../test/running-job.ts';
import type { JobKind } from '../../../jobs/job.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import { createMailer } from '../../../mail/mailer.ts';
import { expiryMail } from './expiry-mail.ts';
import { expiryWarnings } from './expiry-warnings.ts';

const CONTACT = 'hostmaster@operator.example';

let clock: ManualClock;
let homeport: TestHomeport;
let warn: JobKind;

beforeAll(async () => {
  clock = manualClock(new Date('2026-05-01T00:00:00.000Z'));
  homeport = await startTestHomeport({ clock, environment: { HOMEPORT_ACME_CONTACT: CONTACT } });
  warn = expiryWarnings(homeport.platform, createMailer(homeport.config, clock)).warn;
});
afterAll(() => homeport.remove());

/** Makes the certificates of domains look issued by the authority, expiring in the given days. */
async function issue(domains: string[], days: number): Promise<void> {
  await homeport.platform.database.write(async ({ queries }) => {
    const named = queries.selectFrom('domains').select('id').where('name', 'in', domains);
    await queries
      .updateTable('certificates')
      .set({
        source: 'LETS_ENCRYPT',
        not_after: new Date(clock.now().getTime() + days * DAY_MS).toISOString(),
        warned_days: null,
      })
      .where('domain_id', 'in', named)
      .execute();
    await queries
      .updateTable('domains')
      .set({ ssl_reason: 'Set the CNAME of it.' })
      .where('name', 'in', domains)
      .execute();
  });
}

/** Runs the warnings and returns the subjects of their emails. */
async function look(): Promise<string[]> {
  // Emails sent at the same time have no order.
  clock.advance(1000);
  const before = mailsTo(homeport, CONTACT).length;
  await homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, warn, { payload: {}, lane: null }),
  );
  await homeport.idle();
  return mailsTo(homeport, CONTACT)
    .slice(before)
    .map((mail) => mail.subject);
}

it('warns once at 14, 7 and 1 days, and again after a renewal', async () => {
  const { accountId, owner } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  const domain = 'expires.example';
  await owner.client.post(`/installs/${install.id}/domains`, { name: domain });
  await homeport.idle();

  await issue([domain], 15);
  expect(await look()).toEqual([]);
  clock.advance(1.5 * DAY_MS);
  expect(await look()).toEqual([`The certificate of ${domain} expires in 14 days`]);
  expect(await look()).toEqual([]);
  clock.advance(7 * DAY_MS);
  expect(await look()).toEqual([`The certificate of ${domain} expires in 7 days`]);
  clock.advance(5.6 * DAY_MS);
  expect(await look()).toEqual([`The certificate of ${domain} expires within a day`]);
  expect(await look()).toEqual([]);
  const { text } = mailsTo(homeport, CONTACT).at(-1) ?? { text: '' };
  expect(text).toContain(`${domain} (install ${install.name})`);
  expect(text).toContain('Set the CNAME of it.');

  await issue([domain], 90);
  expect(await look()).toEqual([]);
  clock.advance(77 * DAY_MS);
  expect(await look()).toEqual([`The certificate of ${domain} expires in 13 days`]);
});

it('does not count a warning for a certificate that was renewed meanwhile', async () => {
  const { accountId, owner } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  const name = 'renewed.example';
  await owner.client.post(`/installs/${install.id}/domains`, { name });
  await homeport.idle();
  await issue([name], 5);

  const { database, log } = homeport.platform;
  const completion = await warn.run({}, runningJob({ log }));
  await issue([name], 90);
  if (completion) await database.write(completion);
  const row = await database.reader
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .select('certificate.warned_days')
    .where('domain.name', '=', name)
    .executeTakeFirstOrThrow();
  expect(row.warned_days).toBeNull();
  await homeport.idle();
});

it('lists all certificates in one email', async () => {
  const { accountId, owner } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  const names = ['one.several.example', 'two.several.example'];
  for (const name of names) await owner.client.post(`/installs/${install.id}/domains`, { name });
  await homeport.idle();
  await issue(names, 5);
  expect(await look()).toEqual(['2 certificates expire soon']);
});

it('lists a hundred certificates and counts the rest', () => {
  const now = new Date('2026-05-01T00:00:00Z');
  const certificates = Array.from({ length: 130 }, (_, index) => ({
    domain: `d${index}.example`,
    install: 'shop',
    not_after: '2026-04-30T00:00:00.000Z',
    reason: null,
  }));
  const { subject, text } = expiryMail(certificates, now);
  expect(subject).toBe('130 certificates expire soon');
  expect(text).toContain('d99.example (install shop)');
  expect(text).not.toContain('d100.example');
  expect(text).toContain('and 30 more.');
  expect(text).toContain('has expired');
});
