import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { sendmailRecipients } from './sendmail-arguments.ts';
import { createWebsiteMail, type OutgoingMail } from './website-mail.ts';

const SHOP = { id: 'one', name: 'shop' };

function mailer() {
  const taken: OutgoingMail[] = [];
  const clock = manualClock(new Date('2026-01-02T03:04:05Z'));
  const mail = createWebsiteMail({
    sender: 'homeport@provider.example',
    siteDomain: 'provider.example',
    perHour: 3,
    clock,
    randomness: systemRandomness,
    async send(outgoing) {
      if (outgoing.to.includes('down@x.example')) throw new Error('the mail server does not answer');
      taken.push(outgoing);
    },
  });
  const send = (text: string, parameters = ['-t', '-i'], perHour?: number) =>
    mail.send(SHOP, perHour, { siteId: SHOP.id, message: Buffer.from(text), arguments: parameters });
  return { mail, send, taken, clock };
}

describe('the email of a website', () => {
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
    expect(text).toContain('From: homeport@provider.example\r\n');
    expect(text).not.toContain('b@x.example');
    expect(text.endsWith('\r\n\r\nText\r\n')).toBe(true);
  });

  it('is limited to some recipients in an hour, without those of failed messages', async () => {
    const { mail, send, clock } = mailer();
    await expect(send('To: down@x.example\n\n')).rejects.toThrow('does not answer');
    await send('To: a@x.example, b@x.example\n\n');
    expect(mail.read(SHOP.id, undefined)).toMatchObject({ limitPerHour: 3, sentLastHour: 2, queued: 0 });
    await expect(send('To: a@x.example, b@x.example\n\n')).rejects.toThrow('limit of 3 recipients');
    await expect(send('To: a@x.example\n\n', ['-t'], 0)).rejects.toThrow('switched off');
    clock.advance(3_600_001);
    await send('To: a@x.example, b@x.example\n\n');
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
