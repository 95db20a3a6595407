import { setTimeout as sleep } from 'node:timers/promises';
import { operatorFor } from '../access/caller.ts';
import type { Runtime } from '../hosting/contract/install-state.ts';
import type { Platform } from '../platform/platform.ts';
import { writeDemoContent } from './demo-content.ts';
import { writeDemoUsage } from './demo-usage.ts';
import type { RunningHomeport } from './homeport.ts';
import type { Services } from './services.ts';

const PEOPLE = [
  { first_name: 'Frida', last_name: 'Full', email: 'frida@agency.example', roles: 'full,billing' as const },
  { first_name: 'Paul', last_name: 'Partial', email: 'paul@agency.example', roles: 'partial' as const },
];

const MB = 1_000_000;

const SITES = [
  {
    name: 'Harbour Café',
    tags: ['Food', 'Monthly care'],
    installs: ['harbourcafe', 'harbourcafestg'],
    traffic: [
      { visits: 184, fileBytes: 212 * MB, databaseBytes: 9 * MB },
      { visits: 4, fileBytes: 198 * MB, databaseBytes: 8 * MB },
    ],
    domains: ['harbourcafe.example', 'www.harbourcafe.example'],
    tagline: 'Coffee, soup and a view of the boats',
    about: [
      'We opened on the old pier in 1998, with two tables and a kettle. Today there are twenty tables, and the kettle is still in use.',
      'Find us between the lighthouse and the fish market. The ferry stops in front of the door.',
    ],
    posts: [
      {
        title: 'The winter menu is here',
        words: [
          'Leek and potato soup, smoked mackerel on rye, and a plum cake that sold out twice last week.',
          'We serve lunch from noon to three, and cake until the last ferry.',
        ],
      },
      {
        title: 'Music on the pier',
        words: ['On Saturday at seven, the Tidal Quartet plays on our terrace. Bring a warm coat.'],
      },
    ],
  },
  {
    name: 'Lighthouse Books',
    tags: ['Monthly care', 'Shop'],
    installs: ['lighthouse'],
    traffic: [{ visits: 67, fileBytes: 341 * MB, databaseBytes: 27 * MB }],
    domains: ['lighthousebooks.example'],
    tagline: 'Second-hand books by the sea',
    about: [
      'Eleven thousand books on four floors, sorted by a retired ship’s pilot who knows where each of them is.',
    ],
    posts: [
      {
        title: 'Reading group: three books about islands',
        words: [
          'We meet on the first Thursday of each month. In January we begin with a short novel, and end with a long map.',
        ],
      },
      {
        title: 'We buy travel guides',
        words: ['Bring guides printed before 1970. We look at each one while you have a cup of tea.'],
      },
    ],
  },
];

const ENVIRONMENTS = ['production', 'staging'] as const;

/**
 * Fills the oldest account with demo data unless it has a site. Uses the services as a client would, except for the usage of
 * 30 days, which is made up. `runtime`: of the installs; null for the
 * default of the platform. Returns whether it did.
 */
export async function fillDemo(
  platform: Platform,
  services: Services,
  runtime: Runtime | null = null,
): Promise<boolean> {
  const owner = await platform.database.reader
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .select(['member.user_id', 'member.account_id', 'account.site_count'])
    .where('member.role', '=', 'owner')
    .orderBy('member.seq')
    .limit(1)
    .executeTakeFirst();
  if (!owner || owner.site_count > 0) return false;
  const caller = operatorFor(owner.user_id);
  const account_id = owner.account_id;

  const made: string[] = [];
  for (const { name, tags, installs, traffic, domains } of SITES) {
    const site = await services.sites.create(caller, { name, account_id, tags });
    const ids: string[] = [];
    for (const [index, install] of installs.entries()) {
      const environment = ENVIRONMENTS[index] ?? null;
      const input = { name: install, account_id, site_id: site.id, environment, runtime };
      const { id } = await services.installs.create(caller, input);
      const usual = traffic[index];
      if (usual) await writeDemoUsage(platform, { id, name: install, account_id }, usual);
      ids.push(id);
    }
    made.push(...ids);
    const [production] = ids;
    if (production === undefined) continue;
    const names = domains.map((domain, index) => ({
      name: domain,
      ...(index > 0 ? { redirect_to: domains[0] } : {}),
    }));
    await services.domains.createBulk(caller, production, names);
  }
  for (const person of PEOPLE) {
    const install_ids = made.slice(0, 1);
    await services.accountUsers.invite(caller, account_id, { ...person, account_id, install_ids });
  }
  return true;
}

const LOOK_EVERY_MS = 250;

/** Writes the content of the demo's WordPress sites, once their installs are active. Returns the addresses of their front pages. */
export async function writeDemo(
  { platform, services, hosting }: Pick<RunningHomeport, 'platform' | 'services' | 'hosting'>,
  signal: AbortSignal,
): Promise<string[]> {
  if (hosting === null) return [];
  const addresses: string[] = [];
  for (const { installs, name: title, tagline, about, posts } of SITES) {
    const [install = ''] = installs;
    const id = await untilActive(platform, install, signal);
    await writeDemoContent({ install, title, tagline, about, posts }, services, hosting.edgeHttp, signal);
    const connection = await services.connections.of({ id, name: install, primary_domain: null });
    if (connection !== null) addresses.push(connection.website_url);
  }
  return addresses;
}

/** Returns the id of the install. */
async function untilActive({ database }: Platform, name: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    const { id, status } = await database.reader
      .selectFrom('installs')
      .select(['id', 'status'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    if (status === 'active') return id;
    if (status === 'failed') throw new Error(`the install ${name} could not be created`);
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}
