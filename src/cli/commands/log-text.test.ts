import { expect, test } from 'vitest';
import { entryText } from './log-text.ts';
import { parseSince } from './logs.ts';

const time = '2026-01-31T09:30:12.250Z';

test('an entry with several lines is one, and controls no terminal', () => {
  const message = `PHP Warning:  a\u001b[31m\n2026-01-31T09:30:13.000Z forged\r`;
  expect(entryText('php', { time, level: 'warning', message })).toBe(
    `${time} PHP Warning:  a [31m\n    2026-01-31T09:30:13.000Z forged `,
  );
});

test('each kind has its text', () => {
  expect(entryText('cron', { time, seconds: 0.5, exit: 0, output: '' })).toBe(`${time} exit 0, 0.5 s`);
  expect(entryText('cron', { time, seconds: 300, exit: null, output: 'a\nb' })).toBe(
    `${time} exit none: took too long, 300 s\n    a\n    b`,
  );
  const message = { time, id: 'x1', event: 'failed', sender: 'a@shop.example', bytes: 1 } as const;
  expect(
    entryText('mail', { ...message, recipients: ['b@example.com'], recipient_count: 3, reason: '550 no' }),
  ).toBe(`${time} x1 failed from a@shop.example to b@example.com and 2 others: 550 no`);
});

test('--since takes a time before now, or a date', () => {
  const clock = { now: () => new Date('2026-01-31T12:00:00Z') };
  expect(parseSince('90m', clock)).toBe('2026-01-31T10:30:00.000Z');
  expect(parseSince('2d', clock)).toBe('2026-01-29T12:00:00.000Z');
  expect(parseSince('2026-01-30', clock)).toBe('2026-01-30T00:00:00.000Z');
  expect(parseSince('2026-01-30T10:00:00+01:00', clock)).toBe('2026-01-30T09:00:00.000Z');
  for (const wrong of ['yesterday', '2026-02-30', '5', '-1h', '']) {
    expect(() => parseSince(wrong, clock), wrong).toThrow('--since takes');
  }
});
