import { describe, expect, it } from 'vitest';
import { daysLeft, networkWord, objectionToPrimary, tlsWord } from './domain-labels.ts';

const details = (status: 'PENDING' | 'ACTIVE' | 'FAILED', ssl: 'pending' | 'active' | 'failed' | 'none') => ({
  duplicate: false,
  network_details: {
    dns_config_info: { cname: '', a_records: [] },
    network_info: { status, ssl: { status: ssl } },
  },
});

describe('a domain in words', () => {
  it('says that another install has it before all else', () => {
    const checked = { is_cname: false, needs_proof: false, checked_at: '2026-06-01T00:00:00Z' };
    expect(networkWord({ ...details('ACTIVE', 'active'), duplicate: true }, checked).tone).toBe('bad');
    expect(networkWord(details('ACTIVE', 'active'), checked)).toEqual({ word: 'Served here', tone: 'good' });
  });

  it('says that a domain needs verification, even if another install serves it', () => {
    const withheld = { is_cname: false, needs_proof: true, checked_at: null };
    const word = { word: 'Needs verification', tone: 'bad' };
    expect(networkWord({ ...details('PENDING', 'pending'), duplicate: true }, withheld)).toEqual(word);
    expect(networkWord(details('PENDING', 'pending'), withheld)).toEqual(word);
  });

  it('says of none but the own name that it is served before somebody has looked', () => {
    const active = details('ACTIVE', 'active');
    const unchecked = { is_cname: false, needs_proof: false, checked_at: null };
    const notChecked = { word: 'Set up, not checked yet', tone: 'plain' };
    expect(networkWord(active, unchecked)).toEqual(notChecked);
    expect(networkWord(active, undefined)).toEqual(notChecked);
    expect(networkWord(active, { ...unchecked, is_cname: true }).word).toBe('Served here');
    expect(networkWord(details('PENDING', 'pending'), unchecked).word).toBe('Being set up');
    expect(networkWord(details('FAILED', 'failed'), unchecked).tone).toBe('bad');
  });

  it('objects to a primary domain by what is known of it', () => {
    const checked = { is_cname: false, needs_proof: false, checked_at: '2026-06-01T00:00:00Z' };
    const name = 'shop.example';
    const objection = (status: 'ACTIVE' | 'FAILED', checked_at: string | null) =>
      objectionToPrimary({ name, ...details(status, 'active') }, { ...checked, checked_at });
    expect(objection('ACTIVE', checked.checked_at)).toBeNull();
    expect(objection('ACTIVE', null)).toBe('Nobody has seen yet that shop.example leads here.');
    expect(objection('FAILED', checked.checked_at)).toBe(
      'The last check found that visitors of shop.example do not get here.',
    );
  });

  it('does not call a self-signed certificate good', () => {
    const selfSigned = { source: 'SELF_SIGNED', not_after: '2027-01-01T00:00:00Z' } as const;
    expect(tlsWord(details('ACTIVE', 'active'), selfSigned).tone).toBe('busy');
    expect(tlsWord(details('ACTIVE', 'active'), { ...selfSigned, source: 'LETS_ENCRYPT' }).tone).toBe('good');
  });
});

describe('the days of a certificate', () => {
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
