import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../client.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { isLong } from '../rounds.ts';
import { call, callJson } from './call-homeport.ts';
import { type Environment, run, runWithInput } from './run-homeport.ts';

/** Those of this process, which the commands add to. */
const certificates = getCACertificates('default');

let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let folder: string;
let environment: Environment;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  folder = mkdtempSync(join(tmpdir(), 'homeport-api-'));
  writeFileSync(join(folder, 'ca.pem'), homeport.ca);
  environment = {
    XDG_CONFIG_HOME: folder,
    HOMEPORT_API_URL: homeport.origin,
    HOMEPORT_API_CREDENTIAL: `${owner.credential.username}:${owner.credential.password}`,
    HOMEPORT_API_CA: join(folder, 'ca.pem'),
  };
});
afterAll(async () => {
  setDefaultCACertificates(certificates);
  await homeport?.remove();
  rmSync(folder, { recursive: true });
});

const api = (...words: string[]) => call(environment, 'api', ...words);

describe('homeport api', () => {
  it('lists its commands by group, one for each endpoint', async () => {
    // The help ends the process.
    const { code, stdout } = await run(environment, 'api', '--help');
    expect(code).toBe(0);
    expect(stdout).toMatch(/Installs:\n[\s\S]*list-installs +list installs/);
  });

  it('creates an install and waits for its website, then shows it as a table and as JSON', async () => {
    const name = installName();
    const created = await api('create-install', '--name', name, '--account-id', accountId);
    expect(created).toMatchObject({ code: 0, stderr: 'Done: install.create.\n' });
    expect(created.stdout).toMatch(new RegExp(`name +${name}\\n`));
    const listed = await api('list-installs', '--account-id', accountId);
    expect(listed.stdout).toMatch(/^ID +NAME +STATUS/);
    expect(listed.stdout).toMatch(new RegExp(`${name} +active`));
    expect(await callJson(environment, 'api', 'list-installs')).toMatchObject({
      count: 1,
      results: [{ name, status: 'active' }],
    });
  });

  it('loads every page with --all', async () => {
    for (const name of ['one', 'two', 'three']) {
      await api('create-site', '--name', name, '--account-id', accountId);
    }
    const sites = await callJson(environment, 'api', 'list-sites', '--limit', '2', '--all');
    expect(sites).toMatchObject([{ name: 'one' }, { name: 'two' }, { name: 'three' }]);
  });

  it('names every fault, and what is wrong with a value', async () => {
    const refused = await api('create-install', '--account-id', accountId);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^homeport: Install name is required\n {2}name: /);
    expect((await api('list-sites', '--limit', 'many')).stderr).toMatch(/--limit.*It must be a number\./);
    expect((await api('get-install', 'x')).stderr).toMatch(/^homeport: /);
  });

  it('deletes nothing without --yes and without a terminal', async () => {
    const site = await owner.client.post('/sites', { name: 'Doomed', account_id: accountId });
    const id = text(site.body, 'id');
    const asked = await api('delete-site', id);
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    expect(await api('delete-site', id, '--yes')).toMatchObject({ code: 0, stderr: 'Done.\n' });
    expect((await api('get-site', id)).code).toBe(1);
  });

  it('takes a whole body from a file', async () => {
    writeFileSync(join(folder, 'site.json'), JSON.stringify({ name: 'From a file', account_id: accountId }));
    const made = await callJson(environment, 'api', 'create-site', '--body', `@${join(folder, 'site.json')}`);
    expect(made).toMatchObject({ name: 'From a file' });
  });

  it('says how to trust a server with its own certificate', async () => {
    const { HOMEPORT_API_CA: _ca, ...without } = environment;
    const { code, stderr } = await run(without, 'api', 'get-current-user');
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be reached.*--ca FILE/);
  });
});

describe('profiles', () => {
  it('are saved after a check, readable by their user only, and used', async () => {
    const plain = { XDG_CONFIG_HOME: join(folder, 'other') };
    const login = ['api', 'login', '--url', homeport.origin, '--username', owner.credential.username];
    const ca = ['--ca', join(folder, 'ca.pem')];
    expect(await call(plain, 'api', 'list-sites')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('homeport api login'),
    });
    if (isLong) {
      const wrong = await runWithInput(plain, 'wrong', ...login, ...ca);
      expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('Bad Credentials') });
    }
    const right = await runWithInput(plain, `${owner.credential.password}\n`, ...login, ...ca);
    expect(right).toMatchObject({ code: 0, stdout: expect.stringContaining(owner.email) });
    const file = join(folder, 'other', 'homeport', 'profiles.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('wrong');
    expect(await call(plain, 'api', 'get-current-user')).toMatchObject({ code: 0 });
    expect((await call(plain, 'api', 'profiles')).stdout).toContain(owner.credential.username);
    expect((await call(plain, 'api', 'profiles')).stdout).not.toContain(owner.credential.password);
    expect(await call(plain, 'api', 'logout')).toMatchObject({ code: 0 });
    expect(await call(plain, 'api', 'get-current-user')).toMatchObject({ code: 1 });
  });
});
