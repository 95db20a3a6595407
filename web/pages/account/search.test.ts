import { expect, it } from 'vitest';
import type { Install } from '../../api/installs.ts';
import type { Site } from '../../api/sites.ts';
import { filterInstalls, searchSites } from './search.ts';

const install = (name: string, more: Partial<Install> = {}): Install => ({
  id: name,
  name,
  account: { id: 'a1' },
  php_version: null,
  status: 'active',
  cname: `${name}.sites.example`,
  environment: null,
  site: null,
  primary_domain: `${name}.sites.example`,
  stable_ips: null,
  is_multisite: false,
  created_at: '2026-01-01T00:00:00Z',
  ...more,
});
const site = (name: string, installs: Site['installs'] = []): Site => ({
  id: name,
  name,
  account: { id: 'a1' },
  group_name: null,
  tags: [],
  installs,
  created_at: '2026-01-01T00:00:00Z',
});

const shop = install('shop1', { primary_domain: 'www.shop.example', site: { id: 'Shop' } });
const blog = install('journal', { status: 'pending', environment: 'staging' });
const sites = [site('Shop', [shop]), site('Blog')];
const none = { search: '', status: '', environment: '', site: '' };

it('finds sites by their name, and by name, address and domain of their installs', () => {
  const found = (search: string) =>
    searchSites(sites, search, new Map([[shop.id, shop]])).map(({ name }) => name);
  expect(found(' SHOP ')).toEqual(['Shop']);
  expect(found('shop1.sites')).toEqual(['Shop']);
  expect(found('www.shop')).toEqual(['Shop']);
  expect(found('blog')).toEqual(['Blog']);
  expect(found('')).toHaveLength(2);
});

it('filters installs by each of the things asked for', () => {
  const found = (filter: Partial<typeof none>) =>
    filterInstalls([shop, blog], { ...none, ...filter }).map(({ name }) => name);
  expect(found({})).toEqual(['shop1', 'journal']);
  expect(found({ search: 'www.shop' })).toEqual(['shop1']);
  expect(found({ status: 'pending' })).toEqual(['journal']);
  expect(found({ environment: 'staging' })).toEqual(['journal']);
  expect(found({ environment: 'none' })).toEqual(['shop1']);
  expect(found({ site: 'Shop' })).toEqual(['shop1']);
  expect(found({ site: 'none' })).toEqual(['journal']);
  expect(found({ site: 'none', search: 'shop' })).toEqual([]);
});
