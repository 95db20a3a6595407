import { expect, it } from 'vitest';
import { filesInWords, readAddresses } from './backup-words.ts';

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
