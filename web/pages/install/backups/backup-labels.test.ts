import { expect, it } from 'vitest';
import { faultsOfAddresses, filesInWords, readAddresses } from './backup-labels.ts';

it('counts files', () => {
  expect(filesInWords(1)).toBe('1 file');
  expect(filesInWords(1204)).toBe('1,204 files');
});

it('reads addresses as people write them, each once', () => {
  expect(readAddresses(' a@one.example, b@one.example\na@one.example;')).toEqual([
    'a@one.example',
    'b@one.example',
  ]);
  expect(readAddresses('')).toEqual([]);
});

it('names the addresses that are none', () => {
  const description = { field: 'description', message: 'Backup description cannot be empty' };
  const address = { field: 'notification_emails.1', message: 'must be an e-mail address' };
  expect(faultsOfAddresses([description, address], ['a@one.example', 'nope'])).toEqual([
    description,
    { field: 'notification_emails', message: 'nope is not an e-mail address.' },
  ]);
  expect(faultsOfAddresses([description], ['a@one.example'])).toBeNull();
});
