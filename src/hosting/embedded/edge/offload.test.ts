import { expect, test } from 'vitest';
import { offloadedTo } from './offload.ts';

const offload = {
  bucket: 'media',
  region: 'eu-central-1',
  rules: [{ path: '', excluded: ['wp-admin'], type: 'break' as const }],
};

test('the key is the path', () => {
  expect(offloadedTo(offload, { relative: 'a b/é.png', folder: false })).toEqual({
    object: { bucket: 'media', region: 'eu-central-1', key: 'a b/é.png' },
    redirectType: 'break',
  });
});

test('folders, excluded paths and installs without rules have no object', () => {
  expect(offloadedTo(offload, { relative: 'a', folder: true })).toBeNull();
  expect(offloadedTo(offload, { relative: 'wp-admin/x', folder: false })).toBeNull();
  expect(offloadedTo(null, { relative: 'a', folder: false })).toBeNull();
});
