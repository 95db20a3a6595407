import { expect } from 'vitest';
import { text } from '../../../test/client.ts';
import type { Person, TestHomeport } from '../../../test/homeport.ts';
import { operatorFor } from '../../access/caller.ts';
import { timestamp } from '../../lib/clock.ts';

/** An account with its owner. */
export interface Account {
  accountId: string;
  owner: Person;
}

/** Two accounts of different owners, and a site of the first with an install. */
export interface Situation {
  origin: Account;
  destination: Account;
  siteId: string;
  install: { id: string; name: string };
}

/** Makes a new situation; `withWebsite`: waits until the website of the install answers. */
export async function newSituation(homeport: TestHomeport, withWebsite = false): Promise<Situation> {
  const origin = await homeport.ownedAccount();
  const destination = await homeport.ownedAccount();
  const caller = operatorFor(origin.owner.userId);
  const site = await homeport.services.sites.create(caller, { name: 'Shop', account_id: origin.accountId });
  const place = { site_id: site.id, environment: 'production' };
  const install = await homeport.install(origin.owner, origin.accountId, place);
  if (withWebsite) await homeport.idle();
  return { origin, destination, siteId: site.id, install };
}

/** Makes a user a member of another account. */
export async function join(
  homeport: TestHomeport,
  { userId }: Person,
  account_id: string,
  role: 'owner' | 'full' | 'partial' = 'owner',
  invite_accepted = true,
): Promise<void> {
  const { database, clock } = homeport.platform;
  const created_at = timestamp(clock);
  await database.write(({ queries }) =>
    queries
      .insertInto('memberships')
      .values({ account_id, user_id: userId, role, billing: false, invite_accepted, created_at })
      .execute(),
  );
}

/** Requests a transfer. */
export const ask = (by: Person, siteId: string, destination_account_id: string, more: object = {}) =>
  by.client.post(`/sites/${siteId}/site_transfers`, { destination_account_id, ...more });

/** Requests a transfer that is accepted. Returns its id. */
export async function asked(by: Person, siteId: string, to: string, more: object = {}): Promise<string> {
  const answer = await ask(by, siteId, to, more);
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return text(answer.body, 'id');
}

export const accept = (by: Person, accountId: string, transferId: string) =>
  by.client.post(`/accounts/${accountId}/site_transfers/${transferId}/accept`);

/** Transfers the site of a situation, and waits until it has happened. */
export async function transferred(
  homeport: TestHomeport,
  { origin, destination, siteId }: Situation,
): Promise<string> {
  const id = await asked(origin.owner, siteId, destination.accountId);
  expect((await accept(destination.owner, destination.accountId, id)).status).toBe(200);
  await homeport.idle();
  const { body } = await origin.owner.client.get(`/sites/${siteId}/site_transfers/${id}`);
  expect(body).toMatchObject({ status: 'completed' });
  return id;
}
