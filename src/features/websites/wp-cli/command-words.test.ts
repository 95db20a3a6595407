import { expect, it } from 'vitest';
import { commandWords } from './command-words.ts';

it.each([
  [['plugin', 'list', '--format=json'], 'plugin list'],
  [['--user=admin', 'user', 'create', 'bob', 'b@x.example', '--user_pass=secret'], 'user create'],
  [['option', 'update', 'api_key', 'secret'], 'option update'],
  // The second word of these is an argument.
  [['eval', 'secret'], 'eval'],
  [['search-replace', 'secret', 'other'], 'search-replace'],
  [['wc', 'secret'], 'wc'],
  [['user', 'Secret!'], 'user'],
  [['$(secret)'], ''],
  [['--info'], ''],
])('the words of %j are %j', (args, words) => {
  expect(commandWords(args)).toBe(words);
});
