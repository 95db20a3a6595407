import { operatorFor } from '../access/caller.ts';
import type { Platform } from '../platform/platform.ts';
import type { Services } from './services.ts';

const PEOPLE = [
  { first_name: 'Frida', last_name: 'Full', email: 'frida@agency.example', roles: 'full,billing' as const },
  { first_name: 'Paul', last_name: 'Partial', email: 'paul@agency.example', roles: 'partial' as const },
];

const SITES = [
  {
    name: 'Harbour Café',
    installs: ['harbourcafe', 'harbourcafestg'],
    domains: ['harbourcafe.example', 'www.harbourcafe.example'],
  },
  { name: 'Lighthouse Books', installs: ['lighthouse'], domains: ['lighthousebooks.example'] },
];

const ENVIRONMENTS = ['production', 'staging'] as const;

/** Fills the oldest account with demo data unless it has a site. Uses the services as a client would. */
export async function fillDemo({ database }: Platform, services: Services): Promise<void> {
  const owner = await database.reader
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .select(['member.user_id', 'member.account_id', 'account.site_count'])
    .where('member.role', '=', 'owner')
    .orderBy('member.seq')
    .limit(1)
    .executeTakeFirst();
  if (!owner || owner.site_count > 0) return;
  const caller = operatorFor(owner.user_id);
  const account_id = owner.account_id;

  const made: string[] = [];
  for (const { name, installs, domains } of SITES) {
    const site = await services.sites.create(caller, { name, account_id });
    const ids: string[] = [];
    for (const [index, install] of installs.entries()) {
      const environment = ENVIRONMENTS[index] ?? null;
      const input = { name: install, account_id, site_id: site.id, environment };
      ids.push((await services.installs.create(caller, input)).id);
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
}
