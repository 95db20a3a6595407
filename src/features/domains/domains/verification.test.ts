import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { rounds } from '../../../../test/rounds.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { domainsOf } from './domains.fixture.ts';
import {
  type OwnershipSetup,
  ownershipActivity,
  type Party,
  registrable,
  startOwnership,
} from './ownership.fixture.ts';
import { verificationSchedule } from './ownership-job-kinds.ts';

let setup: OwnershipSetup;
let alice: Party;
let bob: Party;
beforeAll(async () => {
  setup = await startOwnership();
  [alice, bob] = [await setup.party(), await setup.party()];
});
afterAll(() => setup?.remove());

describe('the endpoint', () => {
  it('needs no record for the install’s own name', async () => {
    const alice = await setup.party();
    const cname = await alice.defaultDomain(alice.install);
    expect(await alice.read(alice.install, cname)).toMatchObject({
      ownership_status: 'TXT_VERIFIED',
      txt_verified_time: null,
      txt_verification_key: null,
      txt_verification_value: null,
    });
    expect(await alice.verify(cname)).toMatchObject({ id: cname, txt_verification_key: null });
  });

  it('is limited to once in 5 seconds for an install', async () => {
    const at = await alice.added(alice.install, registrable());
    await alice.verify(at);
    const again = await alice.owner.client.post(`${domainsOf(alice.install)}/${at}/verification`);
    expect(again).toMatchObject({
      status: 429,
      body: {
        message: 'Domain verifications are rate-limited to one request every 5 seconds for each install',
      },
    });
  });

  it('asks no DNS once the domain is proved, nor for a stranger', async () => {
    const at = await alice.added(alice.install, registrable());
    await alice.prove(at);
    const key = text(await alice.read(alice.install, at), 'txt_verification_key');
    const asked = setup.dns.asked(key);
    await alice.verify(at);
    setup.clock.advance(5_000);
    expect(await bob.owner.client.post(`${domainsOf(alice.install)}/${at}/verification`)).toMatchObject(
      NOT_FOUND,
    );
    expect(setup.dns.asked(key)).toBe(asked);
  });

  it('gives the domains of an older version a record when it is asked', async () => {
    const base = registrable();
    const at = await alice.added(alice.install, base);
    await setup.homeport.platform.database.write(({ queries }) =>
      queries.deleteFrom('domain_proofs').where('registrable', '=', base).execute(),
    );
    expect(await alice.read(alice.install, at)).toMatchObject({
      ownership_status: 'TXT_VERIFICATION_PENDING',
      txt_verification_key: null,
      txt_verification_value: null,
    });
    expect(await alice.verify(at)).toMatchObject({ txt_verification_key: `_homeport-challenge.${base}` });
  });
});

describe('the platform', () => {
  /** Advances the clock by a minute and runs the jobs of that minute. */
  async function minute(): Promise<void> {
    const { platform } = setup.homeport;
    setup.clock.advance(60_000);
    await platform.database.write((transaction) =>
      verificationSchedule(platform).enqueue(transaction, platform.queue),
    );
    await setup.homeport.idle();
  }

  it('looks for a record itself, less often as time passes, and forgets what has no domain', async () => {
    const [alice, bob] = [await setup.party(), await setup.party()];
    // Those of the tests before are out of the way.
    await setup.homeport.platform.database.write(({ queries }) =>
      queries.deleteFrom('domain_proofs').execute(),
    );
    const [base, gone] = [registrable(), registrable()];
    await bob.added(bob.install, base);
    const at = await alice.added(alice.install, base);
    await alice.removed(await alice.added(alice.install, gone));
    const key = `_homeport-challenge.${base}`;
    await minute();
    expect(setup.dns.asked(key)).toBe(0);
    await minute();
    expect(setup.dns.asked(key)).toBe(2);
    setup.clock.advance(8 * HOUR_MS);
    await minute();
    expect(setup.dns.asked(key)).toBe(4);
    const quiet = rounds(3, 50);
    for (let passed = 0; passed < quiet; passed++) await minute();
    expect(setup.dns.asked(key)).toBe(4);
    setup.clock.advance((65 - quiet) * 60_000);
    await alice.addRecord(at);
    await minute();
    expect(await alice.read(alice.install, at)).toMatchObject({ ownership_status: 'TXT_VERIFIED' });
    expect(await setup.servedBy(base)).toBe(alice);
    expect(await ownershipActivity(setup.homeport, alice)).toMatchObject([
      { action: 'domain.verify', means: 'platform' },
    ]);
    const rows = await setup.homeport.platform.database.reader
      .selectFrom('domain_proofs')
      .select('registrable')
      .where('registrable', '=', gone)
      .execute();
    expect(rows).toEqual([]);
  });

  it('says in a status report which record to add', async () => {
    const name = registrable();
    await alice.added(alice.install, name);
    const at = await bob.added(bob.install, name);
    const { client } = bob.owner;
    setup.clock.advance(5_000);
    const asked = await client.post(`${domainsOf(bob.install)}/${at}/check_status`);
    await setup.homeport.idle();
    const report = await client.get(
      `${domainsOf(bob.install)}/check_status/${text(asked.body, 'report_id')}`,
    );
    const value = text(await bob.read(bob.install, at), 'txt_verification_value');
    expect(field(report.body, 'report', 'domains', 0, 'result')).toBe(
      `${name} is not served until you verify it: add a TXT record with the name _homeport-challenge.${name} and the value ${value}, then verify the domain.`,
    );
  });
});
