import { expect, it } from 'vitest';
import { isSpelledSo, scriptFor } from './script-path.ts';

const FILES = [
  '/index.php',
  '/wp-login.php',
  '/wp-admin/index.php',
  '/wp-admin/a.php',
  '/up/index.php',
  '/up/x.php',
];
const FOLDERS = ['', '/wp-admin', '/wp-content', '/up'];

const questions = {
  isFile: (path: string) => FILES.includes(path.replace('/wordpress', '')),
  isFolder: (path: string) => FOLDERS.includes(path.replace('/wordpress', '')),
  isClosed: (path: string) => path.startsWith('/up/'),
};

it.each([
  ['/', '/index.php', ''],
  ['/a/post/', '/index.php', ''],
  ['/wp-login.php', '/wp-login.php', ''],
  ['/wp-login.php/a/b', '/wp-login.php', '/a/b'],
  ['/wp-admin', '/wp-admin/index.php', ''],
  ['/wp-admin/', '/wp-admin/index.php', ''],
  ['/wp-admin/%61.php', '/wp-admin/a.php', ''],
  ['/wp-content/', '/index.php', ''],
  ['/up/', '/index.php', ''],
  ['/up/x.php', '/index.php', ''],
  ['/up/x.php/y', '/index.php', ''],
  ['//up//x.php', '/index.php', ''],
  ['/./up/x.php', '/index.php', ''],
  ['/up/./x.php', '/index.php', ''],
  ['//wp-login.php', '/wp-login.php', ''],
  ['/missing.php', '/index.php', ''],
  ['/x/../wp-login.php', '/index.php', ''],
  ['/%2e%2e/wp-login.php', '/index.php', ''],
  ['/wp-login.php%00', '/index.php', ''],
  ['/%', '/index.php', ''],
])('%s is answered by %s', (path, script, rest) => {
  expect(scriptFor(path, questions)).toEqual({ script, rest });
});

it.each([
  ['/wordpress/wp-login.php', true],
  ['/wordpress/WP-Login.php', false],
  ['/wordpress/Up/x.php', false],
])('compares the spelling of %s', (path, isSo) => {
  const folders: Record<string, string[]> = {
    '/': ['wordpress'],
    '/wordpress': ['wp-login.php', 'up'],
    '/wordpress/Up': ['x.php'],
  };
  expect(isSpelledSo(path, (folder) => folders[folder] ?? [])).toBe(isSo);
});
