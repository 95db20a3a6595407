import { describe, expect, it } from 'vitest';
import { daysLeft, networkLabel, primaryWarning, tlsLabel } from './domain-labels.ts';

const details = (status: 'PENDING' | 'ACTIVE' | 'FAILED', ssl: 'pending' | 'active' | 'failed' | 'none') => ({
  duplicate: false,
  network_details: {
    dns_config_info: { cname: '', a_records: [] },
    network_info: { status, ssl: { status: ssl } },
  },
});

describe('labels of a domain', () => {
  it('show first that another install serves it', () => {
    const checked = {
      is_cname: false,
      needs_proof: false,
      checked_at: '2026-06-01T00:00:00Z',
      reached: true,
    };
    expect(networkLabel({ ...details('ACTIVE', 'active'), duplicate: true }, checked).tone).toBe('bad');
    expect(networkLabel(details('ACTIVE', 'active'), checked)).toEqual({ word: 'Served here', tone: 'good' });
  });

  it('show a needed verification, even if another install serves it', () => {
    const withheld = { is_cname: false, needs_proof: true, checked_at: null, reached: null };
    const word = { word: 'Needs verification', tone: 'bad' };
    expect(networkLabel({ ...details('PENDING', 'pending'), duplicate: true }, withheld)).toEqual(word);
    expect(networkLabel(details('PENDING', 'pending'), withheld)).toEqual(word);
  });

  it('show only the default domain as served before a check', () => {
    const active = details('ACTIVE', 'active');
    const unchecked = { is_cname: false, needs_proof: false, checked_at: null, reached: null };
    const notChecked = { word: 'Not checked yet', tone: 'plain' };
    expect(networkLabel(active, unchecked)).toEqual(notChecked);
    expect(networkLabel(active, undefined)).toEqual(notChecked);
    expect(networkLabel(active, { ...unchecked, is_cname: true }).word).toBe('Served here');
    expect(networkLabel(details('PENDING', 'pending'), unchecked).word).toBe('Setting up');
    expect(networkLabel(details('FAILED', 'failed'), unchecked).tone).toBe('bad');
  });

  it('do not show a domain as served if the last check could not tell', () => {
    const checked = {
      is_cname: false,
      needs_proof: false,
      checked_at: '2026-06-01T00:00:00Z',
      reached: null,
    };
    const word = { word: 'Could not be checked', tone: 'plain' };
    expect(networkLabel(details('ACTIVE', 'active'), checked)).toEqual(word);
    expect(networkLabel(details('ACTIVE', 'active'), { ...checked, is_cname: true }).word).toBe(
      'Served here',
    );
  });

  it('warn of a primary domain that is not known to point here', () => {
    const checked = {
      is_cname: false,
      needs_proof: false,
      checked_at: '2026-06-01T00:00:00Z',
      reached: true,
    };
    const name = 'shop.example';
    const warning = (status: 'ACTIVE' | 'FAILED', checked_at: string | null) =>
      primaryWarning({ name, ...details(status, 'active') }, { ...checked, checked_at });
    expect(warning('ACTIVE', checked.checked_at)).toBeNull();
    expect(warning('ACTIVE', null)).toBe('No check has confirmed yet that shop.example points here.');
    expect(warning('FAILED', checked.checked_at)).toBe(
      'The last check found that shop.example does not point here.',
    );
  });

  it('do not show a self-signed certificate as good', () => {
    const selfSigned = { source: 'SELF_SIGNED', not_after: '2027-01-01T00:00:00Z' } as const;
    expect(tlsLabel(details('ACTIVE', 'active'), selfSigned).tone).toBe('busy');
    expect(tlsLabel(details('ACTIVE', 'active'), { ...selfSigned, source: 'LETS_ENCRYPT' }).tone).toBe(
      'good',
    );
  });
});

describe('daysLeft', () => {
  const now = new Date('2026-06-01T00:00:00Z');
  it.each([
    ['2026-05-31T00:00:00Z', 'Expired', 'bad'],
    ['2026-06-01T05:00:00Z', 'Less than a day left', 'busy'],
    ['2026-06-02T05:00:00Z', '1 day left', 'busy'],
    ['2026-07-01T00:00:00Z', '30 days left', 'good'],
  ])('%s: %s', (notAfter, word, tone) => {
    expect(daysLeft(notAfter, now)).toEqual({ word, tone });
  });
});
