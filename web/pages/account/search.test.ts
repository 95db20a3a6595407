import { expect, it } from 'vitest';
import { conditionsOf, installFilterOf, withoutSite } from './search.ts';

const none = { status: '', environment: '', site: '', tags: '' };

it('converts filters to parameters of the server', () => {
  const all = { status: 'attention', environment: 'none', site: 'none', tags: 'VIP' };
  expect(conditionsOf(all, 'shop')).toEqual({ ...all, search: 'shop' });
  expect(conditionsOf({ ...none, environment: 'staging' }, '')).toEqual({ environment: 'staging' });
});

it('ignores invalid values in the query string', () => {
  const asked = (parameters: Record<string, string>) => installFilterOf((name) => parameters[name] ?? '');
  const site = '6f0f1c52-7b1f-4c7e-9a43-1d1f6a3b9a10';
  const valid = { status: 'attention', environment: 'none', site, tags: 'VIP,Monthly care' };
  expect(asked(valid)).toEqual(valid);
  expect(asked({ status: 'active', environment: 'staging' })).toEqual({
    status: 'active',
    environment: 'staging',
    site: '',
    tags: '',
  });
  expect(asked({ status: 'nonsense', environment: 'toString', site: 'Shop' })).toEqual({
    status: '',
    environment: '',
    site: '',
    tags: '',
  });
});

it('does not claim a number of installs without a site that the server has not counted', () => {
  expect([1, 9_999, 10_000].map(withoutSite)).toEqual([
    '1 install has no site.',
    '9999 installs have no site.',
    '10,000 installs or more have no site.',
  ]);
});
