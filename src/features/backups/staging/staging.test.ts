import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { text } from '../../../../test/client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { applyInstall } from '../../websites/installs/jobs.ts';

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;
let siteId: string;
let production: string;

beforeAll(async () => {
  clock = manualClock();
  homeport = await startTestHomeport({ clock });
  ({ accountId, owner } = await homeport.ownedAccount());
  siteId = text((await owner.client.post('/sites', { name: 'Shop', account_id: accountId })).body, 'id');
  production = await install({ site_id: siteId, environment: 'production' });
});
afterAll(() => homeport?.remove());

async function install(more: object = {}): Promise<string> {
  const { body } = await owner.client.post('/installs', {
    name: installName(),
    account_id: accountId,
    ...more,
  });
  await homeport.idle();
  return text(body, 'id');
}

/** A copy waits for its backup, and looks again later. */
async function copied(): Promise<void> {
  await homeport.idle();
  clock.advance(MINUTE_MS);
  await homeport.idle();
}

/** Lets copies of an install wait for a minute, so that none ends before a test looks. */
const holdUp = (id: string) =>
  homeport.platform.database.write((transaction) =>
    homeport.platform.queue.enqueue(transaction, applyInstall, {
      payload: { id },
      lane: id,
      delayMs: MINUTE_MS,
    }),
  );

const pageOf = (id: string) => join(homeport.config.dataDir, 'host', 'installs', id, 'files', 'index.html');
const count = async () => (await owner.client.get(`/installs?account_id=${accountId}`)).body;

it('a staging copy is created and filled, and pushed back with a checkpoint', async () => {
  writeFileSync(pageOf(production), 'the shop');
  const name = installName();
  await holdUp(production);
  const made = await owner.client.post(`/installs/${production}/staging`, { name });
  expect(made).toMatchObject({
    status: 202,
    body: { name, environment: 'staging', site: { id: siteId }, status: 'pending' },
  });
  const staging = text(made.body, 'id');
  await homeport.idle();
  expect(
    await owner.client.post(`/installs/${staging}/push`, { include_files: true, include_db: true }),
  ).toMatchObject({
    status: 409,
    body: { message: 'The install is being replaced itself. Push it when that has finished.' },
  });
  await copied();
  await copied();
  const operation = String(made.headers.location).replace('/v1', '');
  expect((await owner.client.get(operation)).body).toMatchObject({
    kind: 'install.copy',
    status: 'succeeded',
    install: { id: staging },
  });
  expect(readFileSync(pageOf(staging), 'utf8')).toBe('the shop');
  expect((await owner.client.get(`/installs/${staging}/backups`)).body).toMatchObject({ count: 0 });

  writeFileSync(pageOf(staging), 'the new shop');
  const pushed = await owner.client.post(`/installs/${staging}/push`, {
    include_files: true,
    include_db: true,
  });
  expect(pushed.status).toBe(202);
  await copied();
  expect(readFileSync(pageOf(production), 'utf8')).toBe('the new shop');
  expect((await owner.client.get(String(pushed.headers.location).replace('/v1', ''))).body).toMatchObject({
    install: { id: production },
    result: { checkpoint_id: expect.any(String) },
  });
});

it('a staging install whose copy was cancelled is not pushed over production, until it has a copy', async () => {
  const site = text((await owner.client.post('/sites', { name: 'Blog', account_id: accountId })).body, 'id');
  const source = await install({ site_id: site, environment: 'production' });
  await holdUp(source);
  const made = await owner.client.post(`/installs/${source}/staging`, { name: installName() });
  const staging = text(made.body, 'id');
  const operation = String(made.headers.location).replace('/v1', '');
  // While the copy looks whether its backup has begun, it cannot be cancelled.
  await homeport.idle();
  expect((await owner.client.delete(operation)).status).toBeLessThan(300);
  await copied();
  const push = () =>
    owner.client.post(`/installs/${staging}/push`, { include_files: true, include_db: true });
  expect(await push()).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining('did not succeed') },
  });
  // Nor by the command line, which finds the target and asks before it pushes.
  const { staging: byCommand } = homeport.services;
  const name = text(made.body, 'name');
  await expect(byCommand.targetOf(name)).rejects.toThrow('did not succeed');
  const everything = { files: true, database: true, tables: null };
  await expect(byCommand.pushAsOperator(name, source, everything)).rejects.toThrow('did not succeed');
  await owner.client.post('/install_copy', {
    source_environment_id: source,
    destination_environment_id: staging,
  });
  await copied();
  expect((await push()).status).toBe(202);
  await copied();
});

it('a staging copy that cannot be made leaves nothing behind', async () => {
  const before = await count();
  // The site has one already.
  expect(await owner.client.post(`/installs/${production}/staging`, { name: installName() })).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'environment', code: 'taken' }] },
  });
  const alone = await install();
  expect(await owner.client.post(`/installs/${alone}/staging`, { name: installName() })).toMatchObject({
    status: 409,
    body: { message: 'The install is in no site. Move it into one first.' },
  });
  expect(before).toMatchObject({ count: 4 });
  expect(await count()).toMatchObject({ count: 5 });
});

it('a push needs a target and a choice', async () => {
  const chosen = { include_files: true, include_db: true };
  expect(await owner.client.post(`/installs/${production}/push`, chosen)).toMatchObject({ status: 409 });
  const none = { to: await install(), include_files: false, include_db: false };
  for (const body of [{}, { include_files: true }, none]) {
    expect((await owner.client.post(`/installs/${production}/push`, body)).status).toBe(400);
  }
  expect(
    await owner.client.post(`/installs/${production}/push`, { ...chosen, to: production }),
  ).toMatchObject({
    status: 400,
  });
});

it('a partial user makes no staging copy', async () => {
  const partial = await homeport.person(accountId, 'partial', [production]);
  const { status } = await partial.client.post(`/installs/${production}/staging`, { name: installName() });
  expect(status).toBe(403);
});
