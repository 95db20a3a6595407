import { expect, it } from 'vitest';
import { knownHost, withLeft } from './known-host.fixture.ts';
import type { AccountOnHost, MovableInstall, MovableSelection } from './placement-store.ts';
import { proposeMoves } from './rebalance.ts';
import type { KnownHost } from './store.ts';

interface Placed {
  on: string;
  account?: string;
  production?: boolean;
  bytes?: number;
  name?: string;
}

const install = (
  { account = 'acme', production = false, bytes, name }: Placed,
  number: number,
): MovableInstall => ({
  id: `${number}`,
  name: name ?? `shop${number}`,
  accountId: account,
  isProduction: production,
  phpVersion: null,
  wordpressVersion: null,
  labels: [],
  bytes: bytes ?? null,
});

/** The moves for these hosts and installs, each as `install: from → to (reason)`. `labels`: what accounts want. */
async function proposed(
  hosts: KnownHost[],
  placed: Placed[],
  { labels = {}, limit = 100 }: { labels?: Record<string, string[]>; limit?: number } = {},
) {
  const all = placed.map((one, number) => {
    const made = install(one, number);
    return { ...made, hostId: one.on, labels: labels[made.accountId] ?? [] };
  });
  const counts = new Map(hosts.map(({ id }) => [id, all.filter(({ hostId }) => hostId === id).length]));
  const accounts = new Map<string, AccountOnHost>();
  for (const { hostId, accountId, isProduction, labels: wanted } of all) {
    const key = `${hostId} ${accountId}`;
    const now = accounts.get(key) ?? { hostId, accountId, labels: wanted, installs: 0, production: 0 };
    accounts.set(key, {
      ...now,
      installs: now.installs + 1,
      production: now.production + (isProduction ? 1 : 0),
    });
  }
  const candidates = async ({
    hostId,
    accountId,
    onlyProduction,
    largestFirst,
    limit: most,
  }: MovableSelection) =>
    all
      .filter((one) => one.hostId === hostId && (accountId === undefined || one.accountId === accountId))
      .filter((one) => !onlyProduction || one.isProduction)
      .sort((one, other) => ((one.bytes ?? 0) - (other.bytes ?? 0)) * (largestFirst ? -1 : 1))
      .slice(0, most);
  const { moves, stuck } = await proposeMoves(
    { hosts, counts, accounts: [...accounts.values()] },
    candidates,
    limit,
  );
  return {
    moves: moves.map(({ install: { name }, from, to, reason }) => `${name}: ${from} → ${to} (${reason})`),
    stuck: stuck.map(({ install: { name }, from, refusal }) => `${name} on ${from}: ${refusal}`),
  };
}

const times = <One>(count: number, one: One): One[] => Array.from({ length: count }, () => one);

it('leaves a fleet alone that is even enough', async () => {
  const hosts = [withLeft(knownHost('a', 50), 0.5, 0.5, 0.5), withLeft(knownHost('b', 50), 0.6, 0.6, 0.5)];
  expect(await proposed(hosts, [...times(5, { on: 'a' }), { on: 'b' }])).toEqual({ moves: [], stuck: [] });
});

it('moves installs to hosts with the labels of their account, and names those that no host takes', async () => {
  const hosts = [
    knownHost('a', 9),
    knownHost('b', 9, { labels: ['ssd'] }),
    knownHost('c', 9, { labels: ['x'], reserved: true }),
  ];
  const placed = [
    { on: 'a', account: 'fast' },
    { on: 'b', account: 'fast' },
    { on: 'c', account: 'other' },
    { on: 'a', account: 'lost' },
  ];
  expect(await proposed(hosts, placed, { labels: { fast: ['ssd'], lost: ['gpu'] } })).toEqual({
    moves: ['shop0: a → b (labels)', 'shop2: c → a (labels)'],
    stuck: [
      'shop3 on a: No host with the label gpu takes new installs; "homeport host list" shows the labels',
    ],
  });
});

it('takes production installs of one account apart, and no others', async () => {
  const hosts = [knownHost('a', 50), knownHost('b', 50), knownHost('c', 50)];
  const placed = [
    ...times(4, { on: 'a', production: true }),
    { on: 'b', production: true },
    ...times(3, { on: 'a' }),
  ];
  const { moves } = await proposed(hosts, placed);
  expect(moves).toEqual(['shop0: a → c (spread)', 'shop1: a → b (spread)']);
});

it('moves installs of the fullest host until the hosts are even', async () => {
  // Each of the ten installs has a tenth of the used 80 %.
  const hosts = [withLeft(knownHost('a', 50), 0.2, 0.9, 0), withLeft(knownHost('b', 50), 0.9, 0.9, 0)];
  const { moves } = await proposed(hosts, times(10, { on: 'a' }));
  expect(moves).toEqual([0, 1, 2, 3].map((number) => `shop${number}: a → b (room)`));
});

it('relieves a full disk by its largest websites', async () => {
  const hosts = [withLeft(knownHost('a', 50), 0.9, 0.1, 0), withLeft(knownHost('b', 50), 0.9, 0.9, 0)];
  const placed = [
    { on: 'a', bytes: 10 },
    { on: 'a', bytes: 350, name: 'large' },
    { on: 'a', bytes: 20 },
  ];
  expect((await proposed(hosts, placed)).moves).toEqual(['large: a → b (room)']);
});

it('fills no host up, moves nothing to a host that is away, and stops at the limit', async () => {
  const full = knownHost('a', 10);
  expect((await proposed([full, knownHost('b', 2)], times(10, { on: 'a' }))).moves).toHaveLength(1);
  expect(
    (await proposed([full, knownHost('b', 50, { reason: 'down' })], times(10, { on: 'a' }))).moves,
  ).toEqual([]);
  expect(
    (await proposed([full, knownHost('b', 50)], times(10, { on: 'a' }), { limit: 2 })).moves,
  ).toHaveLength(2);
});
