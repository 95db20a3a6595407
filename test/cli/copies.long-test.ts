import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { call, callJson } from './call-homeport.ts';
import { type Environment, environmentFor } from './run-homeport.ts';

let homeport: TestHomeport;
let environment: Environment;
let owner: Person;
let accountId: string;
let production: { id: string; name: string };

const staging = installName();

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  production = await homeport.install(owner, accountId);
  environment = await environmentFor(homeport.place);
});
afterAll(() => homeport?.remove());

const pageOf = (id: string) => join(homeport.config.dataDir, 'host', 'installs', id, 'files', 'index.html');
const json = (...words: string[]) => callJson(environment, 'install', ...words);
const refused = async (...words: string[]) => {
  const { code, stdout, stderr } = await call(environment, 'install', ...words);
  expect([code, stdout]).toEqual([1, '']);
  return stderr;
};

test('an install outside of a site has no staging copy, and a bad name is refused', async () => {
  expect(await refused('stage', production.name, staging)).toContain('The install is in no site.');
  expect(await refused('stage', production.name, 'Shop_Next')).toContain('cannot be the name of an install');
  expect(await refused('stage', 'nowhere', staging)).toContain('There is no install "nowhere"');
});

test('a staging copy is made, and pushed to production', async () => {
  const { body } = await owner.client.post('/sites', { name: 'Shop', account_id: accountId });
  await owner.client.patch(`/installs/${production.id}`, {
    site_id: text(body, 'id'),
    environment: 'production',
  });
  await homeport.idle();
  writeFileSync(pageOf(production.id), 'the shop');
  const staged = await json('stage', production.name, staging);
  expect(staged).toMatchObject({ install_name: staging, source_name: production.name });
  const id = text(staged, 'install_id');
  expect(readFileSync(pageOf(id), 'utf8')).toBe('the shop');
  expect((await owner.client.get(`/installs/${id}`)).body).toMatchObject({ environment: 'staging' });

  writeFileSync(pageOf(id), 'the new shop');
  expect(await refused('push', staging)).toContain('Choose what is replaced');
  expect(await refused('push', staging, '--files')).toContain(
    `This replaces the files of ${production.name}. Without a terminal, add --yes.`,
  );
  expect(readFileSync(pageOf(production.id), 'utf8')).toBe('the shop');
  expect(await json('push', staging, '--files', '--yes')).toEqual({
    job_id: expect.any(String),
    install_id: production.id,
    install_name: production.name,
    source_name: staging,
  });
  expect(readFileSync(pageOf(production.id), 'utf8')).toBe('the new shop');
  expect(await refused('push', production.name, '--files', '--yes')).toContain('Name the install to replace');
});

test('an install is copied into another one of its account only', async () => {
  const target = await homeport.install(owner, accountId);
  const copied = await call(environment, 'install', 'copy', production.name, target.name, '--yes');
  expect(copied).toMatchObject({
    code: 0,
    stdout: `Copied the files and the database of ${production.name} into ${target.name}.\n`,
  });
  expect(readFileSync(pageOf(target.id), 'utf8')).toBe('the new shop');
  // Websites of files have no database.
  expect(
    await refused('copy', production.name, target.name, '--files', '--table', 'wp_options', '--yes'),
  ).toContain('without a database');
  expect(await refused('copy', production.name, production.name, '--yes')).toContain('into itself');
  const stranger = await homeport.ownedAccount();
  const foreign = await homeport.install(stranger.owner, stranger.accountId);
  expect(await refused('copy', production.name, foreign.name, '--yes')).toContain('different accounts');
});
