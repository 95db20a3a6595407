import { expect, test } from 'vitest';
import { addressKind } from './address-kind.ts';

test.each([
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'private'],
  ['fd00::1', 'private'],
  ['::ffff:192.168.1.1', 'private'],
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['169.254.169.254', 'link-local'],
  ['0.0.0.0', 'placeholder'],
  ['::', 'placeholder'],
  ['192.0.2.55', 'reserved'],
  ['240.0.0.1', 'reserved'],
  ['2001:db8::1', 'reserved'],
  ['168.63.129.16', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['224.0.0.1', 'multicast'],
])('%s is called %s', (address, kind) => {
  expect(addressKind(address)).toBe(kind);
});
