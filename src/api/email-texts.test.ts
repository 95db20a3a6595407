import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { storedEmail, withStoredEmails } from './email-texts.ts';
import { emailAddress } from './schema.ts';

test.each([
  [' ada@example.com\n', 'ada@example.com'],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['ada@例え.テスト', 'ada@xn--r8jz45g.xn--zckzah'],
  // Not addresses: the schema refuses them afterwards.
  ['ada', 'ada'],
  ['ada@bücher.example/x', 'ada@bücher.example/x'],
  ['ada@bü\r\ncher.example', 'ada@bü\r\ncher.example'],
  ['ada@a%62ü.example', 'ada@a%62ü.example'],
  ['ada@ü@example.com', 'ada@ü@example.com'],
  ['@bücher.example', '@bücher.example'],
  [`ada@${'ü'.repeat(260)}`, `ada@${'ü'.repeat(260)}`],
])('%j is stored as %j', (text, stored) => {
  expect(storedEmail(text)).toBe(stored);
});

// A regular expression that goes back at each character would keep all other requests waiting for minutes.
test('takes no long time for a text as long as a body', () => {
  const text = `x@${'é'.repeat(500_000)}@a`;
  expect(storedEmail(text)).toBe(text);
});

test('changes the addresses of a body, and nothing else', () => {
  const schema = Type.Object({
    user: Type.Object({ email: emailAddress(), name: Type.String() }),
    copies: Type.Optional(Type.Array(emailAddress())),
  });
  const body = { user: { email: ' a@b.example', name: ' Ada ' }, copies: ['c@ü.example', 1], more: ' x ' };
  expect(withStoredEmails(schema, body)).toEqual({
    user: { email: 'a@b.example', name: ' Ada ' },
    copies: ['c@xn--tda.example', 1],
    more: ' x ',
  });
  expect(withStoredEmails(schema, null)).toBeNull();
});
