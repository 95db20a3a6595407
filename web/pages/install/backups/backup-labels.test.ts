import { expect, it } from 'vitest';
import {
  addressErrors,
  describedBackup,
  formatFileCount,
  isLastBackup,
  readAddresses,
  stateOf,
} from './backup-labels.ts';

it('describes a backup without a description by its date', () => {
  const now = new Date(2027, 1, 21, 10, 0);
  expect(describedBackup(' ', now)).toBe('Backup of 21 Feb 2027, 10:00');
  expect(describedBackup('Before the update', now)).toBe('Before the update');
});

it('names the state of a backup', () => {
  expect(stateOf({ status: 'completed', missing_since: null }).word).toBe('Completed');
  const missing = { status: 'completed', missing_since: '2027-02-21T10:00:00.000Z' } as const;
  expect(stateOf(missing)).toEqual({ word: 'Missing', tone: 'bad' });
});

it('counts files', () => {
  expect(formatFileCount(1)).toBe('1 file');
  expect(formatFileCount(1204)).toBe('1,204 files');
});

it('knows the last backup that can be restored', () => {
  const backup = { id: 'one', status: 'completed', missing_since: null, for_copy: false } as const;
  const aborted = { ...backup, id: 'two', status: 'aborted' } as const;
  const list = (...results: (typeof backup | typeof aborted)[]) => ({ results, count: results.length });
  expect(isLastBackup(backup, list(backup, aborted))).toBe(true);
  expect(isLastBackup(aborted, list(backup, aborted))).toBe(false);
  expect(isLastBackup(backup, { results: [backup, { ...backup, id: 'three' }], count: 2 })).toBe(false);
  const missing = { ...backup, id: 'four', missing_since: '2027-02-21T10:00:00.000Z' };
  expect(isLastBackup(backup, { results: [backup, missing], count: 2 })).toBe(true);
  expect(isLastBackup(missing, { results: [missing], count: 1 })).toBe(false);
  // Other pages may have more.
  expect(isLastBackup(backup, { results: [backup], count: 26 })).toBe(false);
});

it('parses separated addresses and removes duplicates', () => {
  expect(readAddresses(' a@one.example, b@one.example\na@one.example;')).toEqual([
    'a@one.example',
    'b@one.example',
  ]);
  expect(readAddresses('')).toEqual([]);
});

it('names invalid addresses', () => {
  const description = { field: 'description', message: 'Backup description cannot be empty' };
  const address = { field: 'notification_emails.1', message: 'must be an e-mail address' };
  expect(addressErrors([description, address], ['a@one.example', 'nope'])).toEqual([
    description,
    { field: 'notification_emails', message: 'nope is not an email address.' },
  ]);
  expect(addressErrors([description], ['a@one.example'])).toBeNull();
});
