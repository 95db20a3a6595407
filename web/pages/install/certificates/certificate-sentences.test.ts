import { describe, expect, it } from 'vitest';
import {
  certificateState,
  orderObstacle,
  renewalSentence,
  uploadedSentence,
} from './certificate-sentences.ts';
import { served } from './served-domain.fixture.ts';

const now = new Date('2026-06-01T00:00:00Z');
const of = (cert_source: 'LETS_ENCRYPT' | 'THIRD_PARTY' | 'SELF_SIGNED', days: number) => ({
  cert_source,
  expires_time: new Date(now.getTime() + days * 24 * 60 * 60_000).toISOString(),
});
const renewal = (certificate: ReturnType<typeof of>, domain = served('a.example')) =>
  renewalSentence(certificate, domain, { now, date: (at) => at.slice(0, 10) });

describe('the state of a certificate', () => {
  it('warns of an uploaded one earlier than of an automatic one', () => {
    expect(certificateState(of('LETS_ENCRYPT', 13), now)).toEqual({ word: 'Valid', tone: 'good' });
    expect(certificateState(of('LETS_ENCRYPT', 2), now)).toEqual({ word: '2 days left', tone: 'busy' });
    expect(certificateState(of('THIRD_PARTY', 13), now)).toEqual({ word: '13 days left', tone: 'busy' });
    expect(certificateState(of('THIRD_PARTY', 15), now).word).toBe('Valid');
  });

  it('says that browsers warn, and above all that it is expired', () => {
    expect(certificateState(of('SELF_SIGNED', 90), now)).toEqual({ word: 'Browsers warn', tone: 'busy' });
    expect(certificateState(of('SELF_SIGNED', -1), now)).toEqual({ word: 'Expired', tone: 'bad' });
  });
});

describe('the renewal of a certificate', () => {
  it('is automatic at a time', () => {
    const at = (renew_at: string | null) =>
      renewal(
        of('LETS_ENCRYPT', 60),
        served('a.example', {
          certificate: { id: 1, source: 'LETS_ENCRYPT', not_after: '2026-08-01T00:00:00Z', renew_at },
        }),
      );
    expect(at('2026-07-01T00:00:00Z')).toBe('Automatic, planned for 2026-07-01.');
    expect(at('2026-05-31T00:00:00Z')).toContain('due now');
    expect(at(null)).toBe('Automatic.');
  });

  it('is up to the user for an uploaded one', () => {
    expect(renewal(of('THIRD_PARTY', 20))).toContain('before this one expires');
    expect(renewal(of('THIRD_PARTY', -1))).toContain('order an automatic one');
  });

  it('says whether an authority will replace a self-signed one', () => {
    const selfSigned = { id: 1, source: 'SELF_SIGNED' as const, not_after: '', renew_at: null };
    const within = (ssl: 'pending' | 'active') => served('a.example', { certificate: selfSigned }, { ssl });
    expect(renewal(of('SELF_SIGNED', 90), within('pending'))).toContain('until the certificate authority');
    expect(renewal(of('SELF_SIGNED', 90), within('active'))).toContain('until you upload');
    expect(renewal(of('SELF_SIGNED', 90), served('*.a.example'))).toContain('until you upload');
  });
});

it('says why no certificate can be ordered', () => {
  expect(orderObstacle(served('a.example'))).toBeNull();
  expect(orderObstacle(served('a.example', { needs_proof: true }, { duplicate: true }))).toContain('Verify');
  expect(orderObstacle(served('a.example', {}, { duplicate: true }))).toContain('Another install');
  expect(orderObstacle(served('*.a.example'))).toContain('wildcard');
});

it('names up to three domains of an upload', () => {
  expect(uploadedSentence(['a.example'])).toBe('Certificate uploaded. a.example uses it now.');
  expect(uploadedSentence(['a.example', 'b.example'])).toContain('a.example and b.example use it');
  expect(uploadedSentence(['a', 'b', 'c', 'd'])).toContain('4 domains use it');
});
