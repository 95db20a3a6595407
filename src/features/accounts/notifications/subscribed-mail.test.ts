import { expect, it } from 'vitest';
import { createSubscribedMail } from './subscribed-mail.ts';
import { createUnsubscribeLinks } from './unsubscribe-link.ts';

const publicUrl = 'https://hosting.example/';
const sealer = { derive: (purpose: string) => Buffer.from(purpose).toString('base64url') };
const subscribed = createSubscribedMail({ config: { publicUrl }, sealer });
const mail = { to: 'ada@example.com', subject: 'A limit', text: 'Hello Ada,\n' };

it('a subscribed email has a link that stops emails like it', () => {
  const reader = { userId: '0198f1c2-0000-7000-8000-000000000001', categories: ['usage'] } as const;
  const { text, headers } = subscribed(mail, reader);
  expect(text.startsWith(`${mail.text}\nChoose which emails you get:\n`)).toBe(true);
  const [, link = '', token = ''] = /(https:\S+\/unsubscribe\/(\S+))/.exec(text) ?? [];
  expect(headers).toEqual({
    'List-Unsubscribe': `<${link}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  expect(createUnsubscribeLinks(sealer, publicUrl).read(token)).toEqual(reader);
});

it('an email of an earlier version names no user and stays as it is', () => {
  expect(subscribed(mail, { userId: undefined, categories: ['usage'] })).toEqual(mail);
});
