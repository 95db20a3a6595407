import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { operatorFor } from '../../../access/caller.ts';
import { timestamp } from '../../../lib/clock.ts';
import { NotFound } from '../../../lib/failures.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let install: { id: string; name: string };

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  install = await homeport.install(owner, accountId);
});
afterAll(() => homeport.remove());

const states = (person = owner, id = install.id) =>
  homeport.services.domains.states(operatorFor(person.userId), id);

async function add(name: string): Promise<string> {
  const answer = await owner.client.post(`/installs/${install.id}/domains`, { name });
  await homeport.idle();
  return text(answer.body, 'id');
}

async function check(domainId: string): Promise<string> {
  clock.advance(5_000);
  const answer = await owner.client.post(`/installs/${install.id}/domains/${domainId}/check_status`);
  await homeport.idle();
  return text(answer.body, 'report_id');
}

describe('the states of domains', () => {
  it('include the certificate and the last report', async () => {
    const shop = await add('shop.example');
    const quiet = await add('quiet.example');
    await homeport.install(owner, accountId);
    const [first, second] = [await check(shop), await check(shop)];
    expect(second).not.toBe(first);
    const checkedAt = timestamp(clock);
    const reason = 'The name does not lead here.';
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('domains').set({ ssl_reason: reason }).where('id', '=', shop).execute(),
    );
    const listed = await owner.client.get(`/installs/${install.id}/ssl_certificates`);
    const selfSigned = (nth: number) => ({
      id: field(listed.body, 'certificates', nth, 'id'),
      renew_at: null,
      source: 'SELF_SIGNED',
      not_after: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const retry_at = timestamp(clock, 60_000);
    await homeport.platform.database.write(({ queries }) =>
      queries
        .insertInto('certificate_attempts')
        .values({ domain_id: shop, failures: 1, next_at: retry_at, held_until: null, order_id: null })
        .execute(),
    );
    const unchecked = {
      needs_proof: false,
      ssl_reason: null,
      checked_at: null,
      reached: null,
      report_id: null,
      retry_at: null,
    };
    expect(await states()).toEqual([
      { ...unchecked, domain_id: expect.any(String), is_cname: true, certificate: selfSigned(0) },
      {
        domain_id: shop,
        is_cname: false,
        needs_proof: false,
        ssl_reason: reason,
        checked_at: checkedAt,
        reached: null,
        report_id: second,
        retry_at,
        certificate: selfSigned(1),
      },
      { ...unchecked, domain_id: quiet, is_cname: false, certificate: selfSigned(2) },
    ]);
    const portal = await signedIn(homeport, owner);
    expect(await portal.get(`/installs/${install.id}/domain_states`)).toMatchObject({
      status: 200,
      body: { results: await states() },
    });
    const domains = await owner.client.get(`/installs/${install.id}/domains`);
    expect((await states())[0]?.domain_id).toBe(field(domains.body, 'results', 0, 'id'));
  });

  it('include the report of the sibling with or without www if it is later', async () => {
    const bare = await add('pair.example');
    const alone = await check(bare);
    const www = await add('www.pair.example');
    const reportOf = async (id: string) =>
      (await states()).find(({ domain_id }) => domain_id === id)?.report_id;
    // It did not exist when the sibling was checked.
    expect([await reportOf(bare), await reportOf(www)]).toEqual([alone, null]);
    const both = await check(bare);
    expect([await reportOf(bare), await reportOf(www)]).toEqual([both, both]);
    const later = await check(www);
    expect([await reportOf(bare), await reportOf(www)]).toEqual([later, later]);
    for (const id of [bare, www]) {
      expect((await owner.client.delete(`/installs/${install.id}/domains/${id}`)).status).toBe(204);
    }
    await homeport.idle();
  });

  it('are null for a missing certificate and a deleted report', async () => {
    await homeport.platform.database.write(async ({ queries }) => {
      await queries.deleteFrom('domain_reports').execute();
      await queries.deleteFrom('certificates').execute();
    });
    for (const state of await states()) expect(state).toMatchObject({ report_id: null, certificate: null });
  });

  it('match their description without a certificate', async () => {
    const portal = await signedIn(homeport, owner);
    const answer = await portal.get(`/installs/${install.id}/domain_states`);
    expect(field(answer.body, 'results', 0, 'certificate')).toBeNull();
    expect(await portal.get(`/installs/${crypto.randomUUID()}/domain_states`)).toMatchObject(NOT_FOUND);
  });

  it('are visible to users who can see the install', async () => {
    const given = await homeport.person(accountId, 'partial', [install.id]);
    expect(await states(given)).toHaveLength(3);
    await expect(states(await homeport.person(accountId, 'partial'))).rejects.toBeInstanceOf(NotFound);
    await expect(states(owner, crypto.randomUUID())).rejects.toBeInstanceOf(NotFound);
  });
});
