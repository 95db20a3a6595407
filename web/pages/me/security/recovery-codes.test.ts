import { expect, test } from 'vitest';
import { recoveryCodesFile } from './recovery-codes.ts';

test('the file of the recovery codes says whose they are, and holds each on a line of its own', () => {
  const file = recoveryCodesFile(['aaaa-bbbb-cccc-dddd', 'eeee-ffff-gggg-hhhh'], {
    email: 'ada@example.com',
    host: 'portal.example.com',
  });
  expect(file).toContain('portal.example.com');
  expect(file).toContain('ada@example.com');
  expect(file.endsWith('\naaaa-bbbb-cccc-dddd\neeee-ffff-gggg-hhhh\n')).toBe(true);
});
