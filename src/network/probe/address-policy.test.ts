import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { createAddressPolicy } from './address-policy.ts';

const publicOnly = createAddressPolicy([]);

const REFUSED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
  '168.63.129.16/32',
];
const REFUSED_V6 = [
  '::/128',
  '::1/128',
  '100::/64',
  '2001:2::/48',
  '2001:10::/28',
  '2001:20::/28',
  '2001:db8::/32',
  '3fff::/20',
  '4000::/3',
  'fc00::/7',
  'fd00:ec2::254/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];
const PUBLIC_V4 = ['1.1.1.1', '8.8.8.8', '9.9.9.9', '93.184.215.14', '185.199.108.153', '223.255.255.1'];
const PUBLIC_V6 = ['2606:4700::1111', '2a00:1450:4001:831::200e', '2620:fe::fe'];

type Bytes = number[];

/** Every IPv6 format with an embedded IPv4 address. */
const FORMS: Record<string, (v4: Bytes) => Bytes> = {
  'IPv4-mapped': (v4) => [...zeros(10), 0xff, 0xff, ...v4],
  'IPv4-compatible': (v4) => [...zeros(12), ...v4],
  'IPv4-translated': (v4) => [...zeros(8), 0xff, 0xff, 0, 0, ...v4],
  NAT64: (v4) => [0, 0x64, 0xff, 0x9b, ...zeros(8), ...v4],
  'local NAT64 /96': (v4) => [0, 0x64, 0xff, 0x9b, 0, 1, ...zeros(6), ...v4],
  '6to4': (v4) => [0x20, 0x02, ...v4, ...zeros(10)],
  'Teredo client': (v4) => [0x20, 1, 0, 0, 8, 8, 8, 8, ...zeros(4), ...v4.map((byte) => byte ^ 0xff)],
};

function zeros(count: number): Bytes {
  return Array.from({ length: count }, () => 0);
}

const text = (bytes: Bytes): string => ipaddr.fromByteArray(bytes).toString();

/** Any address of a range. */
function within(cidr: string): fc.Arbitrary<Bytes> {
  const [base, bits] = ipaddr.parseCIDR(cidr);
  const fixed = base.toByteArray();
  return fc.uint8Array({ minLength: fixed.length, maxLength: fixed.length }).map((random) =>
    fixed.map((byte, at) => {
      const mask = (0xff00 >> Math.max(0, Math.min(8, bits - at * 8))) & 0xff;
      return (byte & mask) | ((random[at] ?? 0) & ~mask & 0xff);
    }),
  );
}

const anyIPv4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => [...bytes]);

describe('public addresses only', () => {
  test.each([...PUBLIC_V4, ...PUBLIC_V6])('%s may be contacted', (address) => {
    expect(publicOnly(address)).toBe(true);
  });

  test.each([...REFUSED_V4, ...REFUSED_V6])('no address in %s may be contacted', (cidr) => {
    fc.assert(
      fc.property(within(cidr), (bytes) => {
        expect(publicOnly(text(bytes))).toBe(false);
      }),
    );
  });

  test.each(Object.entries(FORMS))('%s addresses are judged by the address inside', (_form, wrap) => {
    fc.assert(
      fc.property(anyIPv4, (v4) => {
        expect(publicOnly(text(wrap(v4)))).toBe(publicOnly(text(v4)));
      }),
    );
    for (const cidr of REFUSED_V4) {
      fc.assert(
        fc.property(within(cidr), (v4) => {
          expect(publicOnly(text(wrap(v4)))).toBe(false);
        }),
      );
    }
  });

  test('local NAT64 is refused if any position holds a private address', () => {
    expect(publicOnly('64:ff9b:1:808:8:800::')).toBe(true);
    // 10.0.0.1 behind a prefix of 48 bits, 8.8.8.8 behind one of 96.
    expect(publicOnly('64:ff9b:1:a00:0:100:808:808')).toBe(false);
    expect(publicOnly('64:ff9b:1::')).toBe(false);
  });

  test('a private Teredo server is refused too', () => {
    expect(publicOnly('2001:0:a00:1:0:0:f7f7:f7f7')).toBe(false);
  });

  test.each([
    '',
    'localhost',
    'example.com',
    '8.8.8',
    '0x08.8.8.8',
    '010.8.8.8',
    '134744072',
    '8.8.8.8/32',
    '8.8.8.8:80',
    ' 8.8.8.8',
    '[2606:4700::1111]',
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
  ])('anything but a plain address is refused: "%s"', (address) => {
    expect(publicOnly(address)).toBe(false);
  });

  test('never throws, whatever the text', () => {
    fc.assert(fc.property(fc.string(), (any) => typeof publicOnly(any) === 'boolean'));
  });
});

describe('allowed ranges', () => {
  test('allow exactly the addresses that they contain', () => {
    const policy = createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32'), ipaddr.parseCIDR('fd00::/8')]);
    expect(policy('127.0.0.1')).toBe(true);
    expect(policy('127.0.0.2')).toBe(false);
    expect(policy('fd12::1')).toBe(true);
    expect(policy('fc00::1')).toBe(false);
    expect(policy('::1')).toBe(false);
    expect(policy('8.8.8.8')).toBe(true);
  });

  test('match both the embedded and the outer address', () => {
    const inside = createAddressPolicy([ipaddr.parseCIDR('127.0.0.1/32')]);
    expect(inside('::ffff:127.0.0.1')).toBe(true);
    expect(inside('::ffff:127.0.0.2')).toBe(false);
    const outside = createAddressPolicy([ipaddr.parseCIDR('64:ff9b:1::/48')]);
    expect(outside('64:ff9b:1::a00:1')).toBe(true);
    expect(outside('10.0.0.1')).toBe(false);
  });
});
