import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import type { MailLogEntry } from '../../policy/mail/mail-log.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { createMailRefusals } from './mail-refusals.ts';
import { sendmailRecipients } from './sendmail-arguments.ts';
import { createWebsiteMail, type OutgoingMail } from './website-mail.ts';

const SHOP = { id: '11111111-1111-4111-8111-111111111111', name: 'shop' };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-mail-'));
});
afterEach(() => rm(folder, { recursive: true }));

function mailer(hasServer = true) {
  const logged: MailLogEntry[] = [];
  const taken: OutgoingMail[] = [];
  const clock = manualClock(new Date('2026-01-02T03:04:05Z'));
  const mail = createWebsiteMail({
    senderOf: () => 'homeport@provider.example',
    platformAddress: 'homeport@provider.example',
    portalHost: 'portal.hosting.example',
    siteDomain: 'provider.example',
    refusals: createMailRefusals(layoutOf(folder), clock),
    appendLog: (_installId, entry) => logged.push(entry),
    perHour: 3,
    hasServer,
    clock,
    randomness: systemRandomness,
    async send(outgoing) {
      if (outgoing.to.includes('down@x.example')) throw new Error('connect ECONNREFUSED 10.0.0.1:25');
      if (outgoing.to.includes('full@x.example')) {
        throw Object.assign(new Error('Message failed'), { response: '552 mailbox full' });
      }
      taken.push(outgoing);
    },
  });
  const send = (text: string, parameters = ['-t', '-i'], perHour?: number) =>
    mail.send(SHOP, perHour, { siteId: SHOP.id, message: Buffer.from(text), arguments: parameters });
  return { mail, send, taken, clock, logged };
}

describe('the email of a website', () => {
  it.each([true, false])('says that it can send only with a mail server: %s', async (hasServer) => {
    const { mail } = mailer(hasServer);
    expect(await mail.read(SHOP, undefined)).toMatchObject({ hasRelay: hasServer });
  });

  it('lists the last refused messages for the owner, each reason once a minute', async () => {
    const { mail, send, clock } = mailer();
    const listed = async () => (await mail.read(SHOP, undefined)).refusals;
    expect(await listed()).toEqual([]);
    await expect(send('To: down@x.example\n\n')).rejects.toThrow('does not answer');
    for (const name of ['one', 'two']) {
      await expect(send('', [name])).rejects.toThrow('not an address');
    }
    clock.advance(1);
    await expect(send('To: full@x.example\n\n')).rejects.toThrow('552 mailbox full');
    expect(await listed()).toEqual([
      {
        time: '2026-01-02T03:04:05.001Z',
        reason: 'the mail server of the platform refused the message: 552 mailbox full',
        recipients: ['full@x.example'],
      },
      { time: expect.any(String), reason: '"one" is not an address', recipients: ['one'] },
      {
        time: '2026-01-02T03:04:05.000Z',
        reason: 'the mail server of the platform does not answer; try again in a minute',
        recipients: ['down@x.example'],
      },
    ]);
    clock.advance(60_000);
    await expect(send('', ['two'])).rejects.toThrow('not an address');
    expect(await listed()).toMatchObject([{ recipients: ['two'] }, {}, {}, {}]);
    // After a restart, too.
    expect((await mailer().mail.read(SHOP, undefined)).refusals).toHaveLength(4);
    for (let at = 0; at < 30; at++) {
      clock.advance(60_000);
      await expect(send('', ['two'])).rejects.toThrow('not an address');
    }
    expect(await listed()).toHaveLength(20);
    clock.advance(8 * 24 * 3_600_000);
    expect(await listed()).toEqual([]);
  });

  it('keeps the first recipients of a refused message only', async () => {
    const { send } = mailer();
    await expect(send(`To: ${'a@x.example, '.repeat(5_000)}two\n\n`)).rejects.toThrow('not an address');
    const [file = ''] = await readdir(layoutOf(folder).refusals);
    const text = await readFile(join(layoutOf(folder).refusals, file), 'utf8');
    expect(text.match(/a@x\.example/g)).toHaveLength(3);
  });

  it('goes to the recipients in its head, which nobody sees if they are hidden', async () => {
    const { send, taken } = mailer();
    await send('To: A <a@x.example>\r\nBcc: b@x.example\r\nSubject: S\r\n\r\nText\r\n', [
      '-ti',
      '-fx@y.example',
    ]);
    const [sent] = taken;
    expect(sent).toMatchObject({ from: 'homeport@provider.example', to: ['a@x.example', 'b@x.example'] });
    const text = sent?.message.toString() ?? '';
    expect(text).toContain('Subject: S\r\n');
    expect(text).toContain('From: shop@shop.provider.example\r\n');
    expect(text.replace(/^Received:.*(\r\n\t.*)*/, '')).not.toContain('homeport@');
    expect(text).not.toContain('b@x.example');
    expect(text.endsWith('\r\n\r\nText\r\n')).toBe(true);
  });

  it('is limited to some recipients in an hour, without those of failed messages', async () => {
    const { mail, send, clock, logged } = mailer();
    await expect(send('To: down@x.example\n\n')).rejects.toThrow('does not answer');
    await send('To: a@x.example, b@x.example\n\n');
    expect(await mail.read(SHOP, undefined)).toMatchObject({ limitPerHour: 3, sentLastHour: 2, queued: 0 });
    await expect(send('To: a@x.example, b@x.example\n\n')).rejects.toThrow('limit of 3 recipients');
    await expect(send('To: a@x.example\n\n', ['-t'], 0)).rejects.toThrow('switched off');
    clock.advance(3_600_001);
    await send('To: a@x.example, b@x.example\n\n');
    expect(logged).toMatchObject([
      { event: 'failed', id: expect.any(String), recipients: ['down@x.example'] },
      { event: 'sent', id: expect.any(String), recipient_count: 2, reason: null },
      { event: 'refused', id: null, reason: 'the limit of 3 recipients in an hour is reached' },
      { event: 'refused', id: null, reason: 'mail of this website is switched off' },
      { event: 'sent' },
    ]);
  });

  it('has no author under a domain of the provider, and recipients that exist', async () => {
    const { send } = mailer();
    await expect(send('From: x@provider.example\nTo: a@x.example\n\n')).rejects.toThrow('provider');
    await expect(send('To: nobody\n\n')).rejects.toThrow('not an address');
    await expect(send('Subject: S\n\n')).rejects.toThrow('no recipient');
  });

  it('has a head of bounded size', async () => {
    const { send, taken } = mailer();
    const fields = (count: number) => `To: a@x.example\n${'X: y\n'.repeat(count)}`;
    await send(`${fields(40_000)}\nText`);
    expect(taken[0]?.message.toString()).toMatch(/\nText$/);
    await expect(send(`${fields(60_000)}\nText`)).rejects.toThrow('the head of the message is too long');
    await expect(send(fields(60_000))).rejects.toThrow('the head of the message is too long');
  });
});

it.each([
  [['-t', '-i'], true, []],
  [['-i', '-f', 'from@x.example', 'a@x.example, b@x.example'], false, ['a@x.example', 'b@x.example']],
  [['-oi', '-ffrom@x.example', '--', '-t'], false, ['-t']],
])('reads the arguments %j of sendmail', (given, fromHead, recipients) => {
  expect(sendmailRecipients(given)).toEqual({ fromHead, recipients });
});
