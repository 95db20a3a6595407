import { expect, it } from 'vitest';
import { dnsProviderOf } from './providers.ts';

it.each([
  [['kai.ns.cloudflare.com', 'lia.ns.cloudflare.com'], 'Cloudflare'],
  [['NS-1234.awsdns-56.co.uk.'], 'Amazon Route 53'],
  [['ns1.unknown.test', 'ns1.digitalocean.com'], 'DigitalOcean'],
  [['a.ns.hoster.co.uk', 'b.ns.hoster.co.uk'], 'hoster.co.uk'],
  [['notdigitalocean.com'], 'notdigitalocean.com'],
  [[], ''],
])('%j belongs to %s', (ns, provider) => {
  expect(dnsProviderOf(ns)).toBe(provider);
});
