import { expect, it } from 'vitest';
import type { Reason } from '../../api/overview.ts';
import { attentionLabel } from './attention-labels.ts';

const NOW = new Date('2026-11-21T12:00:00Z');
const sentence = (reason: Partial<Reason> & Pick<Reason, 'kind'>) =>
  attentionLabel({ domain: null, at: null, reason: null, retry_operation_id: null, ...reason }, NOW).sentence;

it('says why an install needs attention', () => {
  expect(sentence({ kind: 'install_failed' })).toBe('The install could not be created.');
  expect(sentence({ kind: 'data_lost', reason: 'wp-config.php is missing.' })).toBe(
    'The website is closed to visitors, because data is missing. wp-config.php is missing.',
  );
  expect(sentence({ kind: 'backup_failed', reason: 'No room is left.' })).toBe(
    'The last backup failed. No room is left.',
  );
  expect(sentence({ kind: 'backup_failed' })).toBe('The last backup failed.');
  const reason = 'The files use 92 % of the limit of 50 GB.';
  expect(sentence({ kind: 'limit_reached', reason })).toBe(reason);
  expect(sentence({ kind: 'domain_not_reached', domain: 'a.example' })).toBe(
    'a.example does not point here.',
  );
  expect(sentence({ kind: 'certificate_missing', domain: 'a.example' })).toBe(
    'a.example has no certificate.',
  );
});

it('says where to fix a reason, and how', () => {
  const { section, advice } = attentionLabel(
    { kind: 'backup_failed', domain: null, at: null, reason: null, retry_operation_id: null },
    NOW,
  );
  expect(section).toBe('/backups');
  expect(advice).toBe('Try again, or create another backup. If it fails again, ask your provider.');
});

it('shows internationalised domains in Unicode', () => {
  const kind = 'domain_not_reached';
  expect(sentence({ kind, domain: 'xn--bro-hoa.example' })).toBe(
    'büro.example (xn--bro-hoa.example) does not point here.',
  );
});

it('says when a domain was checked', () => {
  const seen = (at: string) => sentence({ kind: 'domain_not_reached', domain: 'a.example', at });
  expect(seen('2026-11-18T12:00:00Z')).toBe('a.example does not point here (checked 3 days ago).');
  expect(seen('2026-11-21T11:59:50Z')).toBe('a.example does not point here (checked just now).');
});

it('says when a certificate expires', () => {
  const ends = (at: string) => sentence({ kind: 'certificate_ends', domain: 'a.example', at });
  expect(ends('2026-11-24T13:00:00Z')).toBe('The certificate of a.example expires in 3 days.');
  expect(ends('2026-11-22T13:00:00Z')).toBe('The certificate of a.example expires in 1 day.');
  expect(ends('2026-11-22T11:00:00Z')).toBe('The certificate of a.example expires within a day.');
  expect(ends('2026-11-21T11:00:00Z')).toBe('The certificate of a.example has expired.');
});
