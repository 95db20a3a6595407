import { expect, test } from 'vitest';
import { offloadedTo } from './offload.ts';

const rules = {
  bucket: 'media',
  region: 'eu-central-1',
  paths: [
    { path: '/uploads', excludedPaths: ['/uploads/private/', '/uploads/a'], redirectType: 'break' as const },
    { path: '/uploads/big/', excludedPaths: [], redirectType: 'permanent' as const },
    { path: '/dl/', excludedPaths: [], redirectType: 'permanent' as const },
  ],
};

test.each([
  ['uploads/x.png', 'break'],
  ['uploads', 'break'],
  ['uploads/big/x.iso', 'permanent'],
  ['uploads/bigger.iso', 'break'],
  ['uploads/abc', 'break'],
  ['dl/x', 'permanent'],
  ['uploads/private/x', null],
  ['uploads/private', null],
  ['uploads/a', null],
  ['uploads/a/b', null],
  ['uploadsx/y', null],
  ['Uploads/x', null],
  ['other', null],
  ['', null],
])('%j goes %j', (relative, redirectType) => {
  expect(offloadedTo(rules, { relative, folder: false })?.redirectType ?? null).toBe(redirectType);
  expect(offloadedTo(rules, { relative, folder: true })).toBeNull();
});

test('the key is the path, and `/` matches everything', () => {
  const everything = { ...rules, paths: [{ path: '/', excludedPaths: [], redirectType: 'break' as const }] };
  expect(offloadedTo(everything, { relative: 'a b/é.png', folder: false })?.object).toEqual({
    bucket: 'media',
    region: 'eu-central-1',
    key: 'a b/é.png',
  });
  expect(offloadedTo(null, { relative: 'a', folder: false })).toBeNull();
});
