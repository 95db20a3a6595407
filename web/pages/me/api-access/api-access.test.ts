import { describe, expect, it } from 'vitest';
import { credentialState, reachInWords } from './credential-labels.ts';
import { curlLine } from './curl-line.ts';
import { expiryOf } from './expiry.ts';

const shop = { id: 'a1', name: 'Shop' };
const installs = ['one', 'two', 'three', 'four', 'five'].map((name) => ({ id: name, name }));

describe('a credential in words', () => {
  it('says what it reaches', () => {
    const all = { account: null, installs: null, read_only: false };
    expect(reachInWords(all)).toBe('All that you can reach');
    expect(reachInWords({ ...all, read_only: true })).toBe('All that you can reach, to read only');
    expect(reachInWords({ ...all, account: shop })).toBe('All of Shop');
    expect(reachInWords({ ...all, account: shop, installs: installs.slice(0, 2) })).toBe('one, two of Shop');
    expect(reachInWords({ ...all, account: shop, installs })).toBe('one, two, three and 2 more of Shop');
    expect(reachInWords({ ...all, account: shop, installs: [] })).toContain('deleted');
  });

  it('says whether it works still', () => {
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

describe('the end of a credential', () => {
  const now = new Date('2026-11-21T12:00:00Z');
  it('is so many days away, or none', () => {
    expect(expiryOf('never', '', now)).toBeNull();
    expect(expiryOf('30', '', now)).toBe('2026-12-21T12:00:00.000Z');
    expect(expiryOf('365', '', now)).toBe('2027-11-21T12:00:00.000Z');
  });

  it('is the end of a day where the person is', () => {
    expect(expiryOf('date', '2026-12-24', now)).toBe(new Date(2026, 11, 24, 23, 59, 59).toISOString());
  });
});

describe('the curl line', () => {
  const credential = { username: '3e0f', password: 'Ab-_9' };
  it('asks the API that belongs to the portal', () => {
    expect(curlLine('https://portal.example.com/', credential, null)).toBe(
      'curl -u 3e0f:Ab-_9 https://portal.example.com/v1/user',
    );
    expect(curlLine('https://example.com/homeport/', credential, null)).toContain(
      ' https://example.com/homeport/v1/user',
    );
  });

  it('is one that a shell takes as it is', () => {
    expect(curlLine('https://localhost:8443/', { username: 'u', password: "a'b $c" }, null)).toBe(
      "curl -u 'u:a'\\''b $c' https://localhost:8443/v1/user",
    );
  });

  it('names the certificate where curl does not know it', () => {
    expect(curlLine('https://localhost:8443/', credential, 'homeport.crt')).toBe(
      'curl --cacert homeport.crt -u 3e0f:Ab-_9 https://localhost:8443/v1/user',
    );
  });
});
