/** Cases of ranges of addresses, for the rule and for its copy in Lua. */

export const RANGES = [
  '10.1.0.0/16',
  '192.0.2.7',
  '192.0.2.128/25',
  '2001:db8:1::/48',
  '2001:db8:2::5',
  '255.255.255.255',
];

/** An address, its bytes in hexadecimal digits, and whether it is in the ranges. */
export const RANGE_CASES: [string, string, boolean][] = [
  ['10.0.255.255', '0a00ffff', false],
  ['10.1.0.0', '0a010000', true],
  ['10.1.255.255', '0a01ffff', true],
  ['10.2.0.0', '0a020000', false],
  ['192.0.2.7', 'c0000207', true],
  ['192.0.2.8', 'c0000208', false],
  ['192.0.2.127', 'c000027f', false],
  ['192.0.2.255', 'c00002ff', true],
  ['255.255.255.255', 'ffffffff', true],
  ['0.0.0.0', '00000000', false],
  ['::ffff:10.1.2.3', '00000000000000000000ffff0a010203', true],
  ['::ffff:10.2.2.3', '00000000000000000000ffff0a020203', false],
  ['2001:db8:1::1', '20010db8000100000000000000000001', true],
  ['2001:db8:1:ffff:ffff:ffff:ffff:ffff', '20010db80001ffffffffffffffffffff', true],
  ['2001:db8:2::', '20010db8000200000000000000000000', false],
  ['2001:db8:2::5', '20010db8000200000000000000000005', true],
  ['2001:db8:3::', '20010db8000300000000000000000000', false],
];
