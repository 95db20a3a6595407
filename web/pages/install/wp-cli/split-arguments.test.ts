import { describe, expect, it } from 'vitest';
import { splitArguments } from './split-arguments.ts';

describe('a command line', () => {
  it.each<[string, string[]]>([
    ['plugin list', ['plugin', 'list']],
    ['  wp  plugin\tlist ', ['plugin', 'list']],
    ['option get wp', ['option', 'get', 'wp']],
    [`option update blogname 'My "new" shop'`, ['option', 'update', 'blogname', 'My "new" shop']],
    [`post create --post_title="It's 5 o\\"clock"`, ['post', 'create', `--post_title=It's 5 o"clock`]],
    [`eval 'echo 1; echo \\n;'`, ['eval', 'echo 1; echo \\n;']],
    [`eval "a\\b \\$c"`, ['eval', 'a\\b $c']],
    [`search-replace a\\ b ''`, ['search-replace', 'a b', '']],
    [`option get 'a'"b"c`, ['option', 'get', 'abc']],
    ['user list --fields=$HOME *', ['user', 'list', '--fields=$HOME', '*']],
    ['option get a\\', ['option', 'get', 'a\\']],
  ])('%s', (line, words) => {
    expect(splitArguments(line)).toEqual(words);
  });

  it.each([
    ['', 'Enter a command'],
    [' wp ', 'Enter a command'],
    [`eval 'echo 1;`, "add the closing '"],
    ['eval "echo 1;', 'add the closing "'],
    ['plugin list | grep a', 'There is no shell'],
    ['db export > a.sql', 'There is no shell'],
    ['cache flush && plugin list', 'There is no shell'],
  ])('refuses: %s', (line, message) => {
    expect(() => splitArguments(line)).toThrow(message);
  });
});
