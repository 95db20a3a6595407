import { expect, test } from 'vitest';
import { recoveryCodesFile } from './recovery-codes.ts';

test('the file of recovery codes names the user and has one code on each line', () => {
  const file = recoveryCodesFile(['aaaa-bbbb-cccc-dddd', 'eeee-ffff-gggg-hhhh'], {
    email: 'ada@example.com',
    host: 'portal.example.com',
  });
  expect(file).toContain('portal.example.com');
  expect(file).toContain('ada@example.com');
  expect(file.endsWith('\naaaa-bbbb-cccc-dddd\neeee-ffff-gggg-hhhh\n')).toBe(true);
});
