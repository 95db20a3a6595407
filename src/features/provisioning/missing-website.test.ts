import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../../../test/client.ts';
import { type DatabasePlace, migratedPlace } from '../../../test/database.ts';
import { visit } from '../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';

// A new machine has the identity of the former one. Its backups are elsewhere, or were kept.

let place: DatabasePlace;
let homeport: TestHomeport;
let owner: Person;
let install: { id: string; name: string };
let backupId: string;

const host = () => join(place.settings.dataDir, 'host');
const files = () => join(host(), 'installs', install.id, 'files');

beforeAll(async () => {
  place = await migratedPlace();
  homeport = await startTestHomeport({ place });
  const made = await homeport.ownedAccount();
  owner = made.owner;
  install = await homeport.install(owner, made.accountId);
  writeFileSync(join(files(), 'index.html'), "the customer's page");
  const backup = await owner.client.post(`/installs/${install.id}/backups`, {
    description: 'Good',
    notification_emails: [],
  });
  backupId = text(backup.body, 'id');
  await homeport.idle();
  await homeport.remove();
  rmSync(join(host(), 'installs', install.id), { recursive: true });
  rmSync(join(host(), 'vhosts', `${install.id}.json`));
  homeport = await startTestHomeport({ place });
  owner = { ...owner, client: homeport.clientOf(owner.credential) };
  await homeport.idle();
});
afterAll(async () => {
  await homeport?.remove();
  await place?.remove();
});

const lostData = async () => text((await owner.client.get(`/installs/${install.id}`)).body, 'lost_data');
const home = () => visit(homeport, `http://${install.name}.${homeport.config.siteDomain}/`);

test('the start makes no empty website, and says what is missing', async () => {
  expect(await lostData()).toBe('The files of the website are missing.');
  expect(existsSync(files())).toBe(false);
  expect((await home()).status).toBe(404);
});

test('neither does a change of the install', async () => {
  await owner.client.post(`/installs/${install.id}/domains`, { name: 'changed.example.com' });
  await homeport.idle();
  expect(existsSync(files())).toBe(false);
});

test('nor does a restore of chosen files, which would leave half a website', async () => {
  const restored = await owner.client.post(`/installs/${install.id}/backups/${backupId}/restore`, {
    ...{ notification_emails: [], create_checkpoint: false },
    ...{ restore_files: true, paths: ['index.html'] },
  });
  expect(restored.status).toBe(202);
  await homeport.idle();
  expect(existsSync(files())).toBe(false);
  expect(await lostData()).toBe('The files of the website are missing.');
});

test('a restore that fails leaves it closed, and is not followed by backups of an empty one', async () => {
  const snapshots = join(host(), 'snapshots');
  renameSync(snapshots, `${snapshots}.away`);
  const restored = await owner.client.post(`/installs/${install.id}/backups/${backupId}/restore`, {
    ...{ notification_emails: [], create_checkpoint: false },
  });
  expect(restored.status).toBe(202);
  await homeport.idle();
  renameSync(`${snapshots}.away`, snapshots);
  expect((await home()).status).toBe(404);
  expect(existsSync(files())).toBe(false);
  expect(await lostData()).toBe('The files of the website are missing.');
});

test('a restore of a backup by its owner brings the missing website back, with what was changed meanwhile', async () => {
  const restored = await owner.client.post(`/installs/${install.id}/backups/${backupId}/restore`, {
    notification_emails: [],
    create_checkpoint: false,
  });
  expect(restored.status).toBe(202);
  await homeport.idle();
  const { body } = await owner.client.get(`/operations?install_id=${install.id}`);
  expect((await home()).body, JSON.stringify(body)).toBe("the customer's page");
  expect(readFileSync(join(files(), 'index.html'), 'utf8')).toBe("the customer's page");
  expect((await owner.client.get(`/installs/${install.id}`)).body).toMatchObject({ lost_data: null });
  const changed = await visit(homeport, 'http://changed.example.com/');
  expect(changed.status).not.toBe(404);
});

test('the operator can make an empty one instead', async () => {
  await homeport.remove();
  rmSync(join(host(), 'installs', install.id), { recursive: true });
  rmSync(join(host(), 'vhosts', `${install.id}.json`));
  homeport = await startTestHomeport({ place });
  await homeport.idle();
  await expect(homeport.services.installs.applyAgain(install.name)).resolves.toBeDefined();
  await homeport.idle();
  expect(existsSync(files())).toBe(false);
  await homeport.services.installs.applyAgain(install.name, { fromScratch: true });
  await homeport.idle();
  expect((await home()).status).toBe(200);
  // Until its content is back, so that no nightly backup of the empty one is made in between.
  owner = { ...owner, client: homeport.clientOf(owner.credential) };
  expect(await lostData()).toBe('The files of the website are missing.');
});
