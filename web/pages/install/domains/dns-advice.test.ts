import { describe, expect, it } from 'vitest';
import { dnsAdvice, looksLikeApex } from './dns-advice.ts';

const domain = (name: string) => ({
  name,
  network_details: {
    dns_config_info: { cname: 'shop.sites.example', a_records: ['203.0.113.5', '2001:db8::5'] },
    network_info: { status: 'ACTIVE' as const, ssl: { status: 'active' as const } },
  },
});

describe('dnsAdvice', () => {
  it.each([
    ['example.com', true],
    ['example.co.uk', true],
    ['www.example.com', false],
    ['shop.example.co.uk', false],
    ['*.example.com', false],
  ])('%s is an apex: %s', (name, apex) => {
    expect(looksLikeApex(name)).toBe(apex);
  });

  it('suggests a CNAME where possible', () => {
    expect(dnsAdvice(domain('www.example.com')).cname).toEqual({
      type: 'CNAME',
      name: 'www',
      value: 'shop.sites.example',
    });
  });

  it.each([
    ['example.co.uk', '@'],
    ['blog.shop.example.co.uk', 'blog.shop'],
    ['*.example.com', '*'],
    ['xn--bro-hoa.example.org', 'xn--bro-hoa'],
  ])('gives %s the record name %s', (name, inZone) => {
    expect(dnsAdvice(domain(name)).addresses[0]?.name).toBe(inZone);
  });

  it('suggests address records of both families at the apex', () => {
    const { cname, addresses } = dnsAdvice(domain('example.com'));
    expect(cname).toBeNull();
    expect(addresses.map(({ type, value }) => `${type} ${value}`)).toEqual([
      'A 203.0.113.5',
      'AAAA 2001:db8::5',
    ]);
  });
});
