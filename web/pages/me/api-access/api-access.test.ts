import { describe, expect, it } from 'vitest';
import { accessLabel, credentialState } from './credential-labels.ts';
import { curlLine } from './curl-line.ts';
import { expiryOf } from './expiry.ts';

const shop = { id: 'a1', name: 'Shop' };
const installs = ['one', 'two', 'three', 'four', 'five'].map((name) => ({ id: name, name }));

describe('a credential', () => {
  it('has a label for its access', () => {
    const all = { account: null, installs: null, read_only: false };
    expect(accessLabel(all)).toBe('Everything you can access');
    expect(accessLabel({ ...all, read_only: true })).toBe('Everything you can access (read-only)');
    expect(accessLabel({ ...all, account: shop })).toBe('All of Shop');
    expect(accessLabel({ ...all, account: shop, installs: installs.slice(0, 2) })).toBe('one, two of Shop');
    expect(accessLabel({ ...all, account: shop, installs })).toBe('one, two, three and 2 more of Shop');
    expect(accessLabel({ ...all, account: shop, installs: [] })).toContain('deleted');
  });

  it('is working, expired or revoked', () => {
    const now = new Date('2026-11-21T12:00:00Z');
    const never = { revoked_at: null, expires_at: null };
    expect(credentialState(never, now)).toBe('working');
    expect(credentialState({ ...never, expires_at: '2026-11-21T12:00:01Z' }, now)).toBe('working');
    expect(credentialState({ ...never, expires_at: '2026-11-21T12:00:00Z' }, now)).toBe('expired');
    expect(
      credentialState({ revoked_at: '2026-11-20T00:00:00Z', expires_at: '2026-11-20T00:00:00Z' }, now),
    ).toBe('revoked');
  });
});

describe('the expiry of a credential', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  it('is some days ahead, or never', () => {
    expect(expiryOf('never', '', now)).toBeNull();
    expect(expiryOf('30', '', now)).toBe('2026-12-21T12:00:00.000Z');
    expect(expiryOf('365', '', now)).toBe('2027-11-21T12:00:00.000Z');
  });

  it("is the end of a day in the user's time zone", () => {
    expect(expiryOf('date', '2026-12-24', now)).toBe(new Date(2026, 11, 24, 23, 59, 59).toISOString());
  });
});

describe('the curl line', () => {
  const credential = { username: '3e0f', password: 'Ab-_9' };
  it('calls the API of this portal', () => {
    expect(curlLine('https://portal.example.com/', credential, null)).toBe(
      'curl -u 3e0f:Ab-_9 https://portal.example.com/v1/user',
    );
    expect(curlLine('https://example.com/homeport/', credential, null)).toContain(
      ' https://example.com/homeport/v1/user',
    );
  });

  it('quotes special characters for a shell', () => {
    expect(curlLine('https://localhost:8443/', { username: 'u', password: "a'b $c" }, null)).toBe(
      "curl -u 'u:a'\\''b $c' https://localhost:8443/v1/user",
    );
  });

  it('names the certificate if curl does not trust it', () => {
    expect(curlLine('https://localhost:8443/', credential, 'homeport.crt')).toBe(
      'curl --cacert homeport.crt -u 3e0f:Ab-_9 https://localhost:8443/v1/user',
    );
  });
});
