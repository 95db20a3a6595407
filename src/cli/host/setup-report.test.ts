import { afterEach, expect, test, vi } from 'vitest';
import { tell, warn } from './setup-report.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('keeps each subject apart from what was done', async () => {
  let printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  await tell('user', async () => null);
  await tell('control plane', async () => null);
  await warn('platform backup', async () => 'has no folder');
  expect(printed.split('\n').slice(0, 2)).toEqual([
    '  user             as it should be',
    '  control plane    as it should be',
  ]);
  expect(printed).toMatch(/^ {2}platform backup {2}\S*has no folder/m);
});
