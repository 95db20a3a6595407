import { describe, expect, it } from 'vitest';
import type { HostDescription } from '../../../hosting/contract/host.ts';
import { knownHost } from '../../hosts/known-host.fixture.ts';
import type { KnownHost } from '../../hosts/store.ts';
import { holdSeconds, type MovingInstall, moveRefusal } from './rules.ts';

const shop: MovingInstall = {
  ...{ name: 'shop', status: 'active', lost_data: null, labels: [] },
  ...{ php_version: '8.2', wordpress_version: '6.8.7' },
};

const host = (
  name: string,
  changes: Partial<KnownHost> = {},
  described: Partial<HostDescription> = {},
): KnownHost => {
  const known = knownHost(name, 10, changes);
  return {
    ...known,
    description: known.description && { ...known.description, movesWebsites: true, ...described },
  };
};

const web1 = host('web1');
const refusal = (
  to: KnownHost,
  {
    install = {},
    from = web1,
    installs = 0,
  }: { install?: object; from?: KnownHost | null; installs?: number } = {},
) => moveRefusal({ ...shop, ...install }, { from: from ?? undefined, to, installs });

describe('a move', () => {
  it('is possible between machines that answer and have the versions', () => {
    expect(refusal(host('web2'))).toBeNull();
  });

  it.each([
    ['the same machine', refusal(web1), /is on "web1" already/],
    ['no machine', refusal(host('web2'), { from: null }), /not on a machine/],
    ['a new machine that is silent', refusal(host('web2', { reason: 'refused' })), /"web2" does not answer/],
    [
      'a former machine that is silent',
      refusal(host('web2'), { from: host('web1', { reason: 'x' }) }),
      /"web1" does/,
    ],
    ['an earlier version', refusal(host('web2', {}, { movesWebsites: false })), /Upgrade it first/],
    ['a drained machine', refusal(host('web2', { accepting: false })), /homeport host accept web2/],
    ['a full machine', refusal(host('web2'), { installs: 10 }), /no room/],
    ['a log-in of that name', refusal(host('web2'), { install: { name: 'backup' } }), /of its own/],
    ['another PHP', refusal(host('web2', {}, { phpVersions: ['8.4'] })), /no PHP 8.2; it has 8.4/],
    [
      'another WordPress',
      refusal(host('web2', {}, { wordpressVersions: [] })),
      /no WordPress 6.8.7; it has none/,
    ],
    [
      'an install that is being made',
      refusal(host('web2'), { install: { status: 'pending' } }),
      /only an active/,
    ],
    ['a lost website', refusal(host('web2'), { install: { lost_data: 'gone' } }), /lost data/],
  ])('is refused for %s', (_what, reason, expected) => {
    expect(reason).toMatch(expected);
  });
});

it('holds a website for longer than its first copy took, within what a host accepts', () => {
  expect(holdSeconds(0.2)).toBe(121);
  expect(holdSeconds(60)).toBe(300);
  expect(holdSeconds(50_000)).toBe(3_600);
});
