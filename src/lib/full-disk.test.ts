import { expect, it } from 'vitest';
import { isFullDisk } from './full-disk.ts';

it.each([
  [Object.assign(new Error('write'), { code: 'ENOSPC' }), true],
  [new Error('the backup failed', { cause: Object.assign(new Error('write'), { code: 'EDQUOT' }) }), true],
  [new Error('SQLSTATE[HY000]: General error: 13 database or disk is full'), true],
  [new Error('tar failed: No space left on device'), true],
  [Object.assign(new Error('open'), { code: 'ENOENT' }), false],
  ['ENOSPC', false],
])('%s: %s', (error, full) => {
  expect(isFullDisk(error)).toBe(full);
});
