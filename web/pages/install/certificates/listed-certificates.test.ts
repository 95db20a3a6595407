import { describe, expect, it } from 'vitest';
import type { Certificate } from '../../../api/certificates.ts';
import type { Operation } from '../../../api/operations.ts';
import { listCertificates, shownOrder } from './listed-certificates.ts';
import { served } from './served-domain.fixture.ts';

const certificate: Certificate = {
  id: 7,
  account: null,
  auth_file: null,
  approver_email: null,
  common_name: 'a.example',
  cancel_time: null,
  cert_source: 'THIRD_PARTY',
  ordered_time: '2026-06-01T00:00:00Z',
  order_id: null,
  status: 'ENABLED',
  parent_id: null,
  provider_order_id: null,
  approved_time: '2026-06-01T00:00:00Z',
  expires_time: '2026-12-01T00:00:00Z',
  auto_renew: false,
  wildcard: false,
  domains: ['a.example', 'c.example'],
  serial_number: '01',
  issuer: 'Root',
};

it('groups domains by certificate, and lists those without one', () => {
  const of = { id: 7, source: 'THIRD_PARTY' as const, not_after: '', renew_at: null };
  const all = [
    served('a.example', { certificate: of }),
    served('b.example'),
    served('c.example', { certificate: of }),
    served('later.example'),
  ];
  const listed = listCertificates(
    all.map(({ domain }) => domain),
    all.slice(0, 3).map(({ state }) => state),
    [certificate],
  );
  expect(listed.map(({ id, domains }) => [id, domains.map(({ domain }) => domain.name)])).toEqual([
    ['7', ['a.example', 'c.example']],
    ['b.example', ['b.example']],
  ]);
});

describe('the order of a domain', () => {
  const order = (status: Operation['status'], finished_at: string | null): Operation => ({
    id: 'o',
    kind: 'certificate.order',
    status,
    account_id: 'a',
    install: null,
    created_at: '2026-05-31T00:00:00Z',
    started_at: null,
    finished_at,
    progress: null,
    error: null,
    result: null,
    attempt: 1,
    cancellable: false,
    retryable: false,
    cache: null,
    pages: null,
    backup: null,
    copy: null,
    domain: { id: 'a.example', name: 'a.example' },
  });
  const now = new Date('2026-06-01T02:00:00Z');
  const automatic = { ...certificate, cert_source: 'LETS_ENCRYPT' as const };
  const shown = (one: Operation, domainId = 'a.example') => shownOrder([one], domainId, automatic, now);

  it('is shown in progress, just after its success, and after a failure that the certificate is older than', () => {
    for (const one of [
      order('queued', null),
      order('succeeded', '2026-06-01T01:55:00Z'),
      order('failed', '2026-06-01T01:00:00Z'),
    ]) {
      expect(shown(one)).toBe(one);
    }
  });

  it('is not shown otherwise', () => {
    expect(shown(order('queued', null), 'b.example')).toBeNull();
    expect(shown(order('succeeded', '2026-06-01T01:00:00Z'))).toBeNull();
    expect(shown(order('failed', '2026-05-31T01:00:00Z'))).toBeNull();
    expect(
      shownOrder([order('succeeded', '2026-06-01T01:55:00Z')], 'a.example', certificate, now),
    ).toBeNull();
    expect(shown(order('cancelled', '2026-06-01T01:59:00Z'))).toBeNull();
  });
});
