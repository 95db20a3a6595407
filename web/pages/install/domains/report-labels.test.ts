import { describe, expect, it } from 'vitest';
import type { DomainCheck } from '../../../api/domains.ts';
import { served } from '../certificates/served-domain.fixture.ts';
import { checkLabel, disagreement } from './report-labels.ts';

const check: DomainCheck = {
  name: 'example.com',
  cname: '',
  a_record: '',
  aaaa_record: '',
  result: 'example.com answers here over HTTPS.',
  dns_provider: '',
  install_name: '',
  cluster_id: '',
  http_forwarded: '',
  http_forwarded_list: '',
  platform_env_id: '',
  complete: true,
  dns_error: false,
  http_error: false,
  ns: [],
  mx: [],
  txt: [],
  ip: [],
  address: [],
  soa: [],
  caa: [],
  aname: [],
  ssl: {
    status: 'verified',
    issuer: '',
    not_before: '',
    not_after: '',
    error: '',
    serial_number: '',
    common_name: '',
    dns_names: [],
    sans: [],
    signature_algorithm: 0,
    subject: {
      common_name: '',
      organization: [],
      organizational_unit: [],
      country: [],
      province: [],
      locality: [],
    },
  },
};

describe('checkLabel', () => {
  const tone = (changed: Partial<DomainCheck>) =>
    checkLabel({ ...check, ...changed }, undefined, undefined).tone;

  it('is good only for results without issues', () => {
    expect(tone({})).toBe('good');
    expect(tone({ result: 'example.com answers here, but its certificate cannot be renewed.' })).toBe('busy');
  });

  it('is bad if visitors cannot reach the website', () => {
    const result = 'Set the A record of example.com to 203.0.113.5.';
    expect(tone({ result, dns_error: true })).toBe('bad');
    expect(tone({ result, http_error: true })).toBe('bad');
    expect(tone({ result, ssl: { ...check.ssl, status: 'failed' } })).toBe('bad');
  });

  it('knows nothing without an answer of a name server', () => {
    const { domain, state } = served('example.com');
    const unanswered = { ...check, result: 'No DNS resolver could be reached.', dns_error: true };
    const labelOf = (changed: Partial<DomainCheck>, reached: boolean | null) =>
      checkLabel({ ...unanswered, ...changed }, domain, { ...state, reached }).word;
    expect(labelOf({}, null)).toBe('Could not be checked');
    expect(labelOf({}, false)).toBe('Action needed');
    expect(labelOf({ ip: ['10.0.0.1'] }, null)).toBe('Action needed');
  });

  it('shows a check in progress', () => {
    expect(checkLabel({ ...check, complete: false }, undefined, undefined).word).toBe('Checking');
  });
});

it('detects name servers that disagree with the resolver', () => {
  expect(disagreement({ ip: ['192.0.2.1', '192.0.2.2'], address: ['192.0.2.2', '192.0.2.1'] })).toBe(false);
  expect(disagreement({ ip: ['192.0.2.1'], address: ['192.0.2.2'] })).toBe(true);
  expect(disagreement({ ip: ['192.0.2.1'], address: [] })).toBe(false);
});
