import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { trustsAddress } from './client-address.ts';

const ranges = ['10.0.0.0/8', '192.0.2.1/32', '2001:db8::/32'].map((range) => ipaddr.parseCIDR(range));

describe('trustsAddress', () => {
  it.each(['10.0.0.1', '10.255.255.255', '192.0.2.1', '::ffff:10.1.2.3', '2001:db8:ffff::1'])(
    'trusts %s',
    (address) => {
      expect(trustsAddress(ranges, address)).toBe(true);
    },
  );

  it.each([
    '11.0.0.1',
    '192.0.2.2',
    '::ffff:11.0.0.1',
    '2001:db9::1',
    '::1',
    '',
    'localhost',
    '10.0.0.1, 1.1.1.1',
    undefined,
  ])('does not trust %s', (address) => {
    expect(trustsAddress(ranges, address)).toBe(false);
  });

  it('trusts no address without a configured proxy', () => {
    expect(trustsAddress([], '127.0.0.1')).toBe(false);
  });
});
