import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { refusal } from '../../../../test/refusal.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let owner: Person;
let accountId: string;
beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, hostKind: 'linux' });
  ({ owner, accountId } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

const changed = (id: string, until: unknown, client = owner.client) =>
  client.patch(`/installs/${id}`, { defer_wordpress_upgrades_until: until });

it('users defer upgrades of WordPress, and end the deferral', async () => {
  const { id, name } = await homeport.install(owner, accountId);
  const until = timestamp(clock, 30 * DAY_MS);
  expect(await changed(id, until)).toMatchObject({
    status: 200,
    body: { wp_version: null, defer_wordpress_upgrades_until: until },
  });
  expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({
    defer_wordpress_upgrades_until: until,
  });
  const { switchWordpress } = homeport.services.installs;
  await expect(switchWordpress(name, '6.8.7')).rejects.toThrow(
    `The users of "${name}" have deferred upgrades of WordPress until ${until}; "--force" switches it anyway.`,
  );
  // No machine has the install, which is checked next.
  const next = `The host of "${name}" has no WordPress 6.8.7; it has none.`;
  await expect(switchWordpress(name, '6.8.7', true)).rejects.toThrow(next);
  // A change of something else keeps it.
  await owner.client.patch(`/installs/${id}`, { environment: null });
  expect((await changed(id, undefined)).body).toMatchObject({ defer_wordpress_upgrades_until: until });
  expect((await changed(id, null)).body).toMatchObject({ defer_wordpress_upgrades_until: null });
  await expect(switchWordpress(name, '6.8.7')).rejects.toThrow(next);
  const written = await owner.client.get(`/accounts/${accountId}/activity?install_id=${id}&limit=2`);
  expect(written.body).toMatchObject({
    results: [
      { action: 'install.update', details: { defer_wordpress_upgrades_until: null } },
      { action: 'install.update', details: { defer_wordpress_upgrades_until: until } },
    ],
  });
});

it('a deferral that has passed holds nothing up', async () => {
  const { id, name } = await homeport.install(owner, accountId);
  await changed(id, timestamp(clock, DAY_MS));
  clock.advance(2 * DAY_MS);
  await expect(homeport.services.installs.switchWordpress(name, '6.8.7')).rejects.toThrow(
    `The host of "${name}" has no WordPress 6.8.7; it has none.`,
  );
});

it('the time is in the future and at most a year ahead', async () => {
  const { id } = await homeport.install(owner, accountId);
  for (const until of [timestamp(clock), timestamp(clock, 366 * DAY_MS)]) {
    expect(await changed(id, until)).toMatchObject(
      refusal(
        'Installation.defer_wordpress_upgrades_until',
        'invalid_value / out_of_range',
        'defer_wordpress_upgrades_until must be in the future and at most 365 days ahead',
        'defer_wordpress_upgrades_until must be in the future and at most 365 days ahead',
      ),
    );
  }
  expect((await changed(id, 'tomorrow')).status).toBe(400);
});

it('partial users cannot defer', async () => {
  const { id } = await homeport.install(owner, accountId);
  const partial = await homeport.person(accountId, 'partial', [id]);
  expect((await changed(id, timestamp(clock, DAY_MS), partial.client)).status).toBe(403);
});
