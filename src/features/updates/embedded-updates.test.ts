import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { runningJob } from '../../../test/running-job.ts';
import { heldWordPress } from '../../app/held-wordpress.ts';
import { createCapabilityReader } from '../hosts/capabilities.ts';
import { scheduleKind } from './schedule.ts';

let homeport: TestHomeport;
let owner: Person;
let install: { id: string; name: string };

/** Without PHP: the updates themselves are the host's matter. */
beforeAll(async () => {
  homeport = await startTestHomeport({
    environment: { HOMEPORT_EMBEDDED_PHP_MB: '512' },
    roles: { api: true, hosting: false },
  });
  let accountId: string;
  ({ owner, accountId } = await homeport.ownedAccount());
  const updated = await homeport.install(owner, accountId);
  const files = await homeport.install(owner, accountId);
  install = updated;
  await homeport.platform.database.write(async ({ queries }) => {
    const active = { status: 'active' } as const;
    const wordpress = { ...active, runtime: 'wordpress', wordpress_version: '6.8.1' } as const;
    await queries.updateTable('installs').set(wordpress).where('id', '=', updated.id).execute();
    await queries
      .updateTable('installs')
      .set({ ...active, runtime: 'static' })
      .where('id', '=', files.id)
      .execute();
  });
  for (const version of ['6.8.1', '6.8.3', '6.9.1']) {
    await mkdir(join(homeport.config.dataDir, 'host/wordpress', version), { recursive: true });
  }
});
beforeEach(async () => {
  await homeport.platform.database.write(({ queries }) => queries.deleteFrom('wordpress_updates').execute());
});
afterAll(async () => {
  await homeport?.remove();
});

/** Runs the schedule once. */
async function schedule(runsPhp = true): Promise<void> {
  const { platform } = homeport;
  const config = { ...platform.config, embeddedPhpMb: runsPhp ? 512 : 0 };
  const capabilities = createCapabilityReader({ config }, 'embedded');
  const kind = scheduleKind(platform, capabilities, heldWordPress(config));
  const complete = await kind.run({}, runningJob({ log: platform.log }));
  await platform.database.write(async (transaction) => complete?.(transaction));
}

const requested = () =>
  homeport.platform.database.reader
    .selectFrom('wordpress_updates')
    .select(['install_id', 'cause', 'core_to'])
    .execute();

it('updates WordPress to the newest version that the host has, or to one of them', async () => {
  const update = (core: boolean | string) =>
    owner.client.post(`/installs/${install.id}/wordpress/updates`, { core });
  expect((await update(true)).status).toBe(202);
  expect((await update('6.8.3')).status).toBe(202);
  expect(await update('6.7')).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'core', code: 'not_offered' }] },
  });
  const of = { install_id: install.id, cause: 'request' };
  expect(await requested()).toEqual([
    { ...of, core_to: '6.9.1' },
    { ...of, core_to: '6.8.3' },
  ]);
});

it('makes security releases of WordPress automatically, and others as the policy says', async () => {
  await schedule();
  const of = { install_id: install.id, cause: 'schedule' };
  expect(await requested()).toEqual([{ ...of, core_to: '6.8.3' }]);
  await homeport.platform.database.write(({ queries }) => queries.deleteFrom('wordpress_updates').execute());
  const policy = `/installs/${install.id}/wordpress/update_policy`;
  expect((await owner.client.patch(policy, { core: 'all' })).status).toBe(200);
  await schedule();
  expect(await requested()).toEqual([{ ...of, core_to: '6.9.1' }]);
});

it('updates nothing while PHP is switched off', async () => {
  await schedule(false);
  expect(await requested()).toEqual([]);
});

it('switches an install from the command line to a version that the host has', async () => {
  const { switchWordpress } = homeport.services.installs;
  expect(await switchWordpress(install.name, '6.8.3')).toMatchObject({ from: '6.8.1' });
  await expect(switchWordpress(install.name, '6.7')).rejects.toThrow(
    `The host of "${install.name}" has no WordPress 6.7; it has 6.9.1, 6.8.3, 6.8.1.`,
  );
});
