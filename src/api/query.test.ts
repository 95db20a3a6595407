import { expect, it } from 'vitest';
import { InvalidRequest } from '../lib/failures.ts';
import { idParameter, readQuery, textParameter, timeParameter, wordParameter } from './query.ts';

const PARAMETERS = [
  idParameter('site_id'),
  wordParameter('kind', ['site', 'install']),
  textParameter('search', 'part of a name'),
  timeParameter('since', 'from then on'),
];
const read = (query: string) => readQuery(new URLSearchParams(query), PARAMETERS);

it('normalises the parameters that are present', () => {
  expect(read('')).toEqual({});
  expect(read('site_id=AAAAAAAA-0000-4000-8000-000000000000&other=1')).toEqual({
    site_id: 'aaaaaaaa-0000-4000-8000-000000000000',
  });
  expect(read('kind=site&search=Größe')).toEqual({ kind: 'site', search: 'Größe' });
});

it('reads a time of any zone as UTC', () => {
  expect(read('since=2026-01-31T00:00:00%2B02:00')).toEqual({ since: '2026-01-30T22:00:00.000Z' });
  expect(read('since=2026-01-31T00:00Z')).toEqual({ since: '2026-01-31T00:00:00.000Z' });
});

it('refuses malformed values and names the parameter', () => {
  const refused = [
    'site_id=1',
    'kind=site&kind=site',
    'search=&search=',
    'kind=Site',
    'kind=',
    'search=%00',
    `search=${'x'.repeat(201)}`,
    'since=2026-01-31',
    'since=2026-01-31T00:00:00',
    'since=2026-13-01T00:00:00Z',
    'since=0000-01-01T00:00:00Z',
    'since=9999-12-31T23:00:00-02:00',
  ];
  for (const query of refused) expect(() => read(query), query).toThrow(InvalidRequest);
});
