import { expect, it } from 'vitest';
import type { Install } from '../../api/installs.ts';
import type { Site } from '../../api/sites.ts';
import { filterInstalls, foundBy, installFilterOf, searchSites } from './search.ts';

const install = (name: string, more: Partial<Install> = {}): Install => ({
  id: name,
  name,
  account: { id: 'a1' },
  php_version: null,
  wp_version: null,
  defer_wordpress_upgrades_until: null,
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
  sandbox: false,
  transferable: false,
  tags: [],
  installs,
  created_at: '2026-01-01T00:00:00Z',
});

const shop = install('shop1', { primary_domain: 'www.shop.example', site: { id: 'Shop' } });
const blog = install('journal', { status: 'pending', environment: 'staging' });
const sites = [site('Shop', [shop]), site('Blog')];
const none = { status: '', environment: '', site: '' };
const searched = (text: string, byDomain: [string, string][] = []) => ({ text, byDomain: new Map(byDomain) });

it('finds sites by name, and by the name and domains of their installs', () => {
  const found = (text: string, byDomain: [string, string][] = []) =>
    searchSites(sites, searched(text, byDomain), new Map([[shop.id, shop]])).map(({ name }) => name);
  expect(found(' SHOP ')).toEqual(['Shop']);
  expect(found('shop1.sites')).toEqual(['Shop']);
  expect(found('www.shop')).toEqual(['Shop']);
  expect(found('blog')).toEqual(['Blog']);
  expect(found('')).toHaveLength(2);
  expect(found('other.example')).toEqual([]);
  expect(found('other.example', [[shop.id, 'other.example']])).toEqual(['Shop']);
});

it('filters installs by each filter', () => {
  const attention = new Map([[blog.id, []]]);
  const found = (filter: Partial<typeof none>, text = '', byDomain: [string, string][] = []) =>
    filterInstalls([shop, blog], searched(text, byDomain), { ...none, ...filter }, attention).map(
      ({ name }) => name,
    );
  expect(found({})).toEqual(['shop1', 'journal']);
  expect(found({}, 'www.shop')).toEqual(['shop1']);
  expect(found({}, 'other.example', [[blog.id, 'other.example']])).toEqual(['journal']);
  expect(found({ status: 'pending' })).toEqual(['journal']);
  expect(found({ status: 'attention' })).toEqual(['journal']);
  expect(found({ environment: 'staging' })).toEqual(['journal']);
  expect(found({ environment: 'none' })).toEqual(['shop1']);
  expect(found({ site: 'Shop' })).toEqual(['shop1']);
  expect(found({ site: 'none' })).toEqual(['journal']);
  expect(found({ site: 'none' }, 'shop')).toEqual([]);
});

it('ignores invalid values in the query string', () => {
  const asked = (parameters: Record<string, string>) => installFilterOf((name) => parameters[name] ?? '');
  const valid = { status: 'attention', environment: 'none', site: 'Shop' };
  expect(asked(valid)).toEqual(valid);
  expect(asked({ status: 'active', environment: 'staging' })).toEqual({
    status: 'active',
    environment: 'staging',
    site: '',
  });
  expect(asked({ status: 'nonsense', environment: 'toString' })).toEqual({
    status: '',
    environment: '',
    site: '',
  });
});

it('returns the matched domain unless it is the primary domain', () => {
  const by = (name: string) => foundBy(new Map([[shop.id, name]]), shop);
  expect(by('other.example')).toBe('other.example');
  expect(by('www.shop.example')).toBeNull();
  expect(foundBy(new Map(), shop)).toBeNull();
});
