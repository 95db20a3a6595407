import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginSpans, confirmIncident, suspectIncident } from '../../src/features/uptime/store.ts';
import { field, text } from '../client.ts';
import { visit } from '../edge.ts';
import { installName, type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { mostlyOn } from '../only-on.ts';
import { call, callJson } from './call-homeport.ts';
import { type Environment, environmentFor } from './run-homeport.ts';

/** Registers a test of rules. Other tests run its queries on PostgreSQL. */
const rule = mostlyOn('sqlite', test);

let homeport: TestHomeport;
let environment: Environment;
let owner: Person;
let accountId: string;

beforeAll(async () => {
  homeport = await startTestHomeport();
  ({ accountId, owner } = await homeport.ownedAccount());
  environment = await environmentFor(homeport.place, {
    HOMEPORT_PUBLIC_URL: homeport.origin,
    HOMEPORT_INSTALL_RUNTIME: 'static',
  });
});
afterAll(() => homeport?.remove());

const cli = (...words: string[]) => call(environment, ...words);
const json = (...words: string[]) => callJson(environment, ...words);
async function refused(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(...words);
  expect([code, stdout]).toEqual([1, '']);
  return stderr;
}
async function newInstall(): Promise<string> {
  const name = installName();
  expect(await cli('install', 'create', name, '--account', accountId)).toMatchObject({ code: 0 });
  return name;
}

describe('a site', () => {
  test('is created, shown, changed and deleted, with its installs', async () => {
    const made = await json('site', 'create', 'Harbour Shop', '--account', accountId);
    expect(made).toMatchObject({ name: 'Harbour Shop', account: { id: accountId } });
    const id = text(made, 'id');
    const name = installName();
    await cli('install', 'create', name, '--account', accountId, '--site', id, '--environment', 'staging');
    const changed = await json('site', 'change', 'Harbour Shop', '--name', 'Harbour Store');
    expect(changed).toMatchObject({ id, name: 'Harbour Store', installs: [{ name }] });
    expect((await cli('site', 'show', id)).stdout).toMatch(new RegExp(`^ {2}installs +${name}$`, 'm'));
    expect(await refused('site', 'delete', 'Harbour Store')).toContain('This deletes the site Harbour Store');
    expect(await cli('site', 'delete', 'Harbour Store', '--yes')).toMatchObject({
      code: 0,
      stdout: 'Deleted the site Harbour Store.\n',
      stderr: 'Next: homeport install deleted\n',
    });
    expect(await refused('install', 'show', name)).toContain(`There is no install "${name}"`);
    expect(await refused('site', 'show', 'Harbour Store')).toContain('There is no site "Harbour Store"');
  });

  rule('says what to add next, and every fault', async () => {
    const made = await cli('site', 'create', 'Quay', '--account', accountId);
    expect(made.stderr).toBe('Next: homeport install create NAME --site "Quay"\n');
    expect(await refused('site', 'create', 'x'.repeat(41), '--account', accountId)).toBe(
      'homeport: Invalid site name.\n  name: Site name is too long (maximum is 40 characters)\n',
    );
    expect(await refused('site', 'create', 'Quay', '--account', 'Nowhere')).toContain(
      '"homeport account list"',
    );
  });
});

// Other tests run its queries on PostgreSQL.
mostlyOn('sqlite', describe)('an install', () => {
  test('is shown, moved and deleted, and the command ends when the website is gone', async () => {
    const name = await newInstall();
    const site = text(await json('site', 'create', 'Pier', '--account', accountId), 'id');
    expect(
      await json('install', 'change', name, '--site', 'Pier', '--environment', 'development'),
    ).toMatchObject({
      site: { id: site },
      environment: 'development',
    });
    const shown = await json('install', 'change', name, '--site', 'none');
    expect(shown).toMatchObject({ site: null });
    expect(shown).toEqual((await owner.client.get(`/installs/${text(shown, 'id')}`)).body);
    expect((await visit(homeport, `http://${name}.localhost/`)).status).toBe(200);
    expect(await refused('install', 'delete', name)).toContain('Without a terminal, add --yes.');
    expect(await cli('install', 'delete', name, '--yes')).toMatchObject({
      code: 0,
      stdout: `Deleted the install ${name}.\n`,
      stderr: expect.stringContaining('Next: homeport install deleted\n'),
    });
    expect((await visit(homeport, `http://${name}.localhost/`)).status).toBe(404);
    expect((await cli('install', 'deleted')).stdout).toContain(name);
  });

  test('is recorded as the work of the operator, who needs no owner in the account', async () => {
    const account = text(await json('account', 'create', '--name', 'Without people'), 'id');
    const name = installName();
    await cli('install', 'create', name, '--account', account);
    const backup = await json('backup', 'create', name);
    expect(backup).toMatchObject({ status: 'completed', description: 'Requested by the operator' });
    expect(await cli('install', 'delete', name, '--yes')).toMatchObject({ code: 0 });
    const entries = await homeport.platform.database.reader
      .selectFrom('activity')
      .select(['action', 'user_id', 'user_name'])
      .where('account_id', '=', account)
      .where('action', 'in', ['backup.create', 'install.delete'])
      .execute();
    expect(entries).toHaveLength(2);
    for (const entry of entries) expect(entry).toMatchObject({ user_id: null, user_name: 'the operator' });
  });
});

test('a domain is added, found by its name, changed, checked and removed', async () => {
  const [name, other] = [await newInstall(), await newInstall()];
  expect((await cli('domain', 'create', name, 'Pier.example')).stderr).toMatch(
    /Next: homeport domain check pier\.example\n$/,
  );
  await cli('domain', 'create', name, 'www.pier.example');
  await cli('domain', 'create', other, 'pier.example');
  expect(await refused('domain', 'show', 'pier.example')).toContain(
    `Several installs have the domain "pier.example": ${name}, ${other}. Name one with --install.`,
  );
  const shown = await cli('domain', 'show', 'pier.example', '--install', other);
  expect(shown.stdout).toMatch(/^ {2}duplicate +true$/m);
  expect(shown.stdout).toMatch(
    new RegExp(`^ {2}network_details.dns_config_info.cname +${other}.localhost$`, 'm'),
  );
  expect(await cli('domain', 'delete', 'pier.example', '--install', other, '--yes')).toMatchObject({
    code: 0,
  });
  expect(await json('domain', 'change', 'pier.example', '--primary')).toMatchObject({ primary: true });
  expect(await json('domain', 'change', 'www.pier.example', '--redirect-to', 'pier.example')).toMatchObject({
    redirect_to: { name: 'pier.example' },
  });
  expect(await json('domain', 'change', 'www.pier.example', '--redirect-to', 'none')).toMatchObject({
    redirect_to: null,
  });
  const checked = await cli('domain', 'check', 'pier.example');
  expect(checked).toMatchObject({ code: 0 });
  expect(checked.stdout).toMatch(/^pier\.example: .+\nwww\.pier\.example: .+\n$/);
  expect(await refused('domain', 'delete', 'pier.example', '--yes')).toContain('primary');
  expect(await cli('domain', 'delete', 'www.pier.example', '--yes')).toMatchObject({
    code: 0,
    stdout: 'Removed the domain www.pier.example.\n',
  });
  expect(await refused('domain', 'show', 'www.pier.example')).toContain('There is no domain');
});

rule('the uptime of a website is shown with its downtime, and its incidents are listed', async () => {
  const name = await newInstall();
  const { database } = homeport.platform;
  const { id } = await database.reader
    .selectFrom('installs')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  expect((await cli('install', 'uptime', name)).stdout).toMatch(/^ {2}not checked +Homeport checks active/m);
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const incident = crypto.randomUUID();
  await database.write(async ({ queries }) => {
    await queries.updateTable('installs').set({ environment: 'production' }).where('id', '=', id).execute();
    await beginSpans(queries, [
      { install_id: id, first_at: ago(100), last_at: ago(5), is_up: true },
      { install_id: id, first_at: ago(4), last_at: ago(0), is_up: false },
    ]);
    const fault = { cause: 'status', message: 'The home page answered 500.' };
    await suspectIncident(queries, { id: incident, install_id: id, ...fault, started_at: ago(4) });
    const php_error = 'Uncaught Error: x in wp-content/plugins/a/a.php:7';
    await confirmIncident(queries, incident, { ...fault, php_error, confirmed_at: ago(3) });
  });
  const { stdout, stderr } = await cli('install', 'uptime', name);
  expect(stdout).toMatch(/^ {2}state +down since \d{4}-\d\d-\d\d \d\d:\d\d UTC$/m);
  expect(stdout).toMatch(/^ {2}incident +The home page answered 500\.$/m);
  expect(stdout).toMatch(/^ {2}PHP error +Uncaught Error: x in wp-content\/plugins\/a\/a\.php:7$/m);
  expect(stdout).toMatch(/^ {2}24 hours +9[\d.]+ %$/m);
  // Two days after midnight.
  expect(stdout).toMatch(/^DAY +UP +DOWN(\n\d{4}-\d\d-\d\d +[\d.]+ % +\d min){1,2}$/m);
  expect(stderr).toBe(`Next: homeport install incidents ${name}\n`);
  expect(await json('install', 'incidents', name, '--state', 'open')).toMatchObject([{ id: incident }]);
});

mostlyOn('sqlite', test)('a backup is made, shown and deleted', async () => {
  const name = await newInstall();
  const made = await json('backup', 'create', name, '--description', 'before the update');
  expect(made).toMatchObject({ status: 'completed', description: 'before the update', kind: 'manual' });
  const id = text(made, 'id');
  expect((await cli('backup', 'show', id)).stdout).toMatch(/^ {2}description +before the update$/m);
  expect(await refused('backup', 'delete', id)).toContain('Without a terminal, add --yes.');
  expect(await cli('backup', 'delete', id, '--yes')).toMatchObject({ code: 0 });
  expect(await refused('backup', 'show', id)).toContain('There is no backup');
  expect(await refused('backup', 'show', 'latest')).toContain('"latest" is not the id of a backup');
});

mostlyOn('sqlite', test)('people: invited, invited again, given other roles and removed', async () => {
  const name = await newInstall();
  const account = field(await json('account', 'show', accountId), 'name');
  const email = `${installName()}@people.example`;
  const words = ['--first-name', 'Frida', '--last-name', 'Full', '--roles', 'full', '--invite'];
  expect(await cli('user', 'create', '--account', accountId, '--email', email, ...words)).toMatchObject({
    code: 0,
  });
  await homeport.idle();
  expect(mailsTo(homeport, email)).toHaveLength(1);
  expect(await cli('user', 'invite-again', email)).toMatchObject({
    code: 0,
    stdout: `The invitation of ${email} is queued.\n`,
  });
  await homeport.idle();
  expect(mailsTo(homeport, email)).toHaveLength(2);
  expect(await json('user', 'roles', email, '--roles', 'partial', '--install', name)).toMatchObject({
    account_user: { roles: 'partial', installs: [{ name }] },
  });
  expect(await json('user', 'show', email)).toMatchObject({
    email,
    roles: 'partial',
    invite_accepted: false,
  });
  expect(await refused('user', 'remove', owner.email, '--yes')).toContain('last owner');
  expect(await cli('user', 'remove', email, '--account', String(account), '--yes')).toMatchObject({
    code: 0,
    stdout: `Removed ${email} from the account.\n`,
  });
  expect(await refused('user', 'show', email)).toMatch(/There is no user|is in no account/);
});
