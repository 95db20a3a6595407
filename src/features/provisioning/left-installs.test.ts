import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { timestamp } from '../../lib/clock.ts';
import { servingInventory } from './inventory.fixture.ts';
import { insertRebuild } from './lost-hosts/rebuild-store.ts';
import { insertMove } from './moves/store.ts';
import { reconcileHost } from './reconciliation.ts';

let homeport: TestHomeport;

beforeAll(async () => {
  homeport = await startTestHomeport();
});
afterAll(() => homeport?.remove());

test('a host whose installs were all rebuilt elsewhere while it was away stops serving them', async () => {
  const { platform, services } = homeport;
  const { database, clock, random } = platform;
  const { owner, accountId } = await homeport.ownedAccount();
  const install = await homeport.install(owner, accountId);
  const stranger = { id: random.uuid(), name: 'stranger' };
  const { host: lost } = await services.hosts.add('web1', 'https://10.0.0.1:8470');
  const { host: other } = await services.hosts.add('web2', 'https://10.0.0.2:8470');
  const at = timestamp(clock);
  await database.write(async ({ queries }) => {
    await queries.updateTable('installs').set({ host_id: other.id }).where('id', '=', install.id).execute();
    await insertRebuild(queries, {
      ...{ id: random.uuid(), install_id: install.id, install_name: install.name, job_id: random.uuid() },
      ...{ from_host: lost.id, to_host: other.id, step: 'rebuilt', lost_at: at, requested_at: at },
      ...{ backup_id: random.uuid(), backup_at: at, reason: null, finished_at: at },
    });
  });
  const aside: string[] = [];
  const alone = await servingInventory(platform, [install], aside);
  expect(await reconcileHost(platform, alone, lost.id)).toMatchObject({
    refusal: null,
    orphans: [{ id: install.id }],
  });
  expect(aside).toContain(install.id);

  // What the database does not know at all is still served until the operator confirms.
  aside.length = 0;
  const both = await servingInventory(platform, [install, stranger], aside);
  expect((await reconcileHost(platform, both, lost.id)).refusal).toBe('no website known');
  expect(aside).toEqual([install.id]);
});

test('an install that was rebuilt elsewhere and is being moved back is left alone', async () => {
  const { platform, services } = homeport;
  const { database, clock, random } = platform;
  const { id: former } = await services.hosts.find('web1');
  const { id: present } = await services.hosts.find('web2');
  const { install_id, install_name } = await database.reader
    .selectFrom('rebuilds')
    .selectAll()
    .executeTakeFirstOrThrow();
  await database.write(({ queries }) =>
    insertMove(queries, {
      ...{ id: random.uuid(), install_id, install_name, step: 'copying', job_id: random.uuid() },
      ...{ from_host: present, to_host: former, requested_at: timestamp(clock) },
    }),
  );
  const aside: string[] = [];
  const inventory = await servingInventory(platform, [{ id: install_id, name: install_name }], aside);
  expect(await reconcileHost(platform, inventory, former)).toMatchObject({ refusal: null, orphans: [] });
  expect(aside).toEqual([]);
});
