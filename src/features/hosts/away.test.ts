import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { onlyInLong } from '../../../test/rounds.ts';
import { operatorFor } from '../../access/caller.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/durations.ts';

let local: ServedMachine;
let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  clock = manualClock(new Date());
  local = await serveMachine({ capacity: 20 });
  homeport = await startTestHomeport({
    clock,
    environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: local.runFolder },
  });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(async () => {
  await homeport?.remove();
  await local?.close();
});

const install = () => homeport.install(owner, accountId);

const row = (id: string) =>
  homeport.platform.database.reader
    .selectFrom('installs')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst();

const jobsOf = (lane: string) =>
  homeport.platform.database.reader
    .selectFrom('jobs')
    .select(['kind', 'state', 'error', 'attempt'])
    .where('lane', '=', lane)
    .orderBy('seq')
    .execute();

describe('an unreachable host', () => {
  it('fails no job after any number of attempts, and gets them within 30 s of its return', async () => {
    const { backups, installs } = homeport.services;
    const first = await install();
    const doomed = await install();
    const requested = await backups.request(operatorFor(owner.userId), first.id, {
      description: 'made',
      notification_emails: [],
    });
    await homeport.idle();
    await local.write(first, 'index.html', 'written later');
    await local.down();

    const late = await backups.request(operatorFor(owner.userId), doomed.id, {
      description: 'late',
      notification_emails: [],
    });
    const lateStatus = async () =>
      text((await owner.client.get(`/installs/${doomed.id}/backups/${late.id}`)).body, 'status');
    const { jobId: restore } = await backups.requestRestore(requested.id);
    const { jobId: core } = await installs.switchWordpress(first.name, '6.1.9');
    await owner.client.post(`/installs/${first.id}/purge_cache`, { type: 'page' });
    // Twice the time that all attempts of each had taken.
    for (let i = 0; i < 12; i++) {
      await homeport.idle();
      clock.advance(5 * MINUTE_MS);
    }
    await homeport.idle();
    expect(await lateStatus()).toBe('requested');
    expect(await homeport.platform.queue.find(restore)).toMatchObject({ state: 'queued', attempt: 0 });
    expect((await jobsOf(first.id)).filter(({ state }) => state === 'failed')).toEqual([]);

    await local.up();
    // Jobs in one lane run one after the other.
    clock.advance(30_000);
    await homeport.idle();
    expect(await lateStatus()).toBe('completed');
    expect(await homeport.platform.queue.find(restore)).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(await homeport.platform.queue.find(core)).toMatchObject({ state: 'succeeded' });
    expect((await jobsOf(first.id)).at(-1)).toMatchObject({ kind: 'purge_cache', state: 'succeeded' });
  });

  onlyInLong(it)(
    'provisions installs requested within the last hour, and removes websites after any time',
    async () => {
      const gone = await install();
      await local.down();
      const created = await homeport.services.installs.create(operatorFor(owner.userId), {
        name: `meanwhile${process.pid}`,
        account_id: accountId,
      });
      expect((await owner.client.delete(`/installs/${gone.id}`)).status).toBe(204);
      for (let i = 0; i < 10; i++) {
        await homeport.idle();
        clock.advance(5 * MINUTE_MS);
      }
      await homeport.idle();
      expect(await row(created.id)).toMatchObject({ status: 'pending' });
      await local.up();
      clock.advance(30_000);
      await homeport.idle();
      expect(await row(created.id)).toMatchObject({ status: 'active' });
      expect(local.versions.has(gone.id)).toBe(false);

      await local.down();
      await owner.client.delete(`/installs/${created.id}`);
      const never = await homeport.services.installs.create(operatorFor(owner.userId), {
        name: `never${process.pid}`,
        account_id: accountId,
      });
      for (let day = 0; day < 30; day++) {
        await homeport.idle();
        clock.advance(DAY_MS);
      }
      expect(await row(never.id)).toMatchObject({ status: 'failed' });
      expect((await jobsOf(never.id)).at(0)).toMatchObject({ kind: 'provision_install', state: 'failed' });
      expect(local.versions.has(created.id)).toBe(true);
      await local.up();
      // The worker may have tried and postponed the removal between the last day and the host's return.
      clock.advance(30_000);
      await homeport.idle();
      expect(local.versions.has(created.id)).toBe(false);
      expect((await jobsOf(created.id)).at(-1)).toMatchObject({ kind: 'remove_install', state: 'succeeded' });
    },
  );
});
