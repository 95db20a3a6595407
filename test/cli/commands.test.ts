import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import { insertSite } from '../../src/features/websites/sites/store.ts';
import { text } from '../client.ts';
import { type DatabasePlace, databasePlace, silent, temporaryFolder } from '../database.ts';
import { isLong } from '../rounds.ts';
import { call, callJson } from './call-homeport.ts';
import { type Environment, environmentFor, run } from './run-homeport.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '11111111-1111-4111-8111-111111111111';

let place: DatabasePlace;
let environment: Environment;
let account: string;
const cli = (...words: string[]) => call(environment, ...words);
const json = (...words: string[]) => callJson(environment, ...words);

/** Ends with 1, says one line, and nothing on standard output. */
async function refused(words: string[], line: string | RegExp, how = call): Promise<void> {
  const { code, stdout, stderr } = await how(environment, ...words);
  expect(stderr).toMatch(line);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
}

beforeAll(async () => {
  place = await databasePlace();
  environment = await environmentFor(place);
  await refused(['account', 'list'], /There is no Homeport in .*HOMEPORT_DATA_DIR/, run);
  const [first, second] = [await run(environment, 'migrate'), await json('migrate')];
  expect(first).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^Applied 0001-.* up to date\.\n$/),
  });
  expect(second).toEqual({ applied: [], total: expect.any(Number) });
  account = text(await json('account', 'create', '--name', ' Harbour Agency '), 'id');
});
afterAll(() => place.remove());

/** An install for partial users, without a website. */
async function addInstall(name: string): Promise<void> {
  const database = openDatabase(place.settings, silent);
  await migrate(database);
  await database.write(({ queries }) =>
    queries
      .insertInto('installs')
      .values({
        id: crypto.randomUUID(),
        account_id: account,
        site_id: null,
        environment: null,
        name,
        status: 'active',
        php_version: null,
        stable_ips: null,
        offload_file_name: 'f',
        offload_file_content: 'c',
        created_at: new Date().toISOString(),
      })
      .execute(),
  );
  await database.close();
}

async function addSite(name: string): Promise<string> {
  const site = {
    id: crypto.randomUUID(),
    name,
    account_id: account,
    sandbox: false,
    transferable: false,
    tags: [],
    created_at: new Date().toISOString(),
  };
  const database = openDatabase(place.settings, silent);
  await database.write(({ queries }) => insertSite(queries, site));
  await database.close();
  return site.id;
}

const person = (email: string, ...more: string[]) => [
  'user',
  'create',
  '--account',
  account,
  '--email',
  email,
  '--first-name',
  'Ann',
  '--last-name',
  'Lee',
  ...more,
];

test('accounts', async () => {
  expect(account).toMatch(UUID);
  const [list, people] = await Promise.all([cli('account', 'list'), cli('migrate')]);
  expect(list).toEqual({
    code: 0,
    stdout: `ID                                    NAME\n${account}  Harbour Agency\n`,
    stderr: '',
  });
  expect(people.stdout).toMatch(/^The database is up to date \(\d+ migrations?\)\.\n$/);
  const named = { id: account, name: 'Harbour Agency' };
  expect(await json('account', 'list')).toEqual([{ ...named, nickname: 'Harbour Agency' }]);
  expect(await json('account', 'update', account, '--nickname', ' Harbour ')).toEqual({
    ...named,
    nickname: 'Harbour',
  });
  expect(await json('account', 'recount')).toEqual([]);
  expect(await cli('account', 'update', 'Harbour Agency', '--nickname', 'H')).toMatchObject({
    code: 0,
    stdout: `The account ${account} is named Harbour Agency, nickname H.\n`,
  });
  expect(await json('account', 'update', account, '--nickname', '')).toEqual({ ...named, nickname: null });
  await refused(['account', 'update', 'Nowhere', '--name', 'X'], /There is no account "Nowhere"/);
  await refused(['account', 'update', account], 'Give a new name or a nickname.');
});

test('people and their credentials', async () => {
  const made = await json(...person('Ann@people.example', '--roles', 'full,billing'));
  expect(made).toEqual({
    user_id: expect.stringMatching(UUID),
    account_id: account,
    email: 'Ann@people.example',
    first_name: 'Ann',
    last_name: 'Lee',
    roles: 'billing, full',
    invite_accepted: true,
    installs: [],
  });
  const [credential, shown, people] = await Promise.all([
    json(
      'credential',
      'create',
      '--user',
      'ann@PEOPLE.example',
      '--name',
      'deployment',
      '--expires',
      '2100-01-01',
    ),
    cli('credential', 'create', '--user', 'ann@people.example', '--expires', '90d'),
    cli('user', 'list', '--account', account),
    refused(
      person('ANN@people.example', '--roles', 'partial'),
      'ANN@people.example is a user of this account already.',
    ),
  ]);
  expect(people.stdout).toContain(`Ann@people.example  Ann Lee  billing, full  Harbour Agency  ${account}\n`);
  expect(credential).toEqual({
    username: expect.stringMatching(UUID),
    password: expect.stringMatching(/^[\w-]{22,}$/),
    user: 'Ann@people.example',
    name: 'deployment',
    expires_at: '2100-01-01T00:00:00.000Z',
    read_only: false,
    account: null,
    installs: null,
  });
  expect(shown.code).toBe(0);
  const username = text(credential, 'username');
  const [, other = ''] = /Username {2}(\S+)\n {2}Password {2}\S{22,}\n/.exec(shown.stdout) ?? [];
  expect(other).toMatch(UUID);
  expect(shown.stdout).toContain(`-u ${other}:`);

  expect((await cli('credential', 'revoke', other.toUpperCase())).stdout).toBe(`Revoked ${other}.\n`);
  const [again, list, table, none] = await Promise.all([
    cli('credential', 'revoke', other),
    json('credential', 'list', '--user', 'ann@people.example'),
    cli('credential', 'list'),
    cli('user', 'list', '--json'),
  ]);
  expect(again.code).toBe(0);
  const common = {
    user: 'Ann@people.example',
    read_only: false,
    account: null,
    installs: null,
    last_used_at: null,
    created_at: expect.any(String),
  };
  expect(list).toEqual(
    expect.arrayContaining([
      {
        ...common,
        username,
        name: 'deployment',
        state: 'active',
        expires_at: '2100-01-01T00:00:00.000Z',
        revoked_at: null,
      },
      {
        ...common,
        username: other,
        name: 'command line',
        state: 'revoked',
        expires_at: expect.any(String),
        revoked_at: expect.any(String),
      },
    ]),
  );
  expect(table.stdout).toMatch(/^USERNAME +USER +NAME +STATE +REACHES +LAST USED +EXPIRES\n/);
  expect(table.stdout).toContain(
    `${username}  Ann@people.example  deployment    active   all      never      2100-01-01 00:00 UTC\n`,
  );
  expect(JSON.parse(none.stdout)).toEqual([
    {
      id: text(made, 'user_id'),
      email: 'Ann@people.example',
      first_name: 'Ann',
      last_name: 'Lee',
      is_operator: false,
      accounts: [{ id: account, name: 'Harbour Agency', roles: 'billing, full', invite_accepted: true }],
    },
  ]);
});

test('credentials that reach less than their person', async () => {
  await json(...person('dora@people.example', '--roles', 'full'));
  await addInstall('narrow');
  const words = ['--user', 'dora@people.example', '--read-only', '--account', 'Harbour Agency'];
  expect(await json('credential', 'create', ...words, '--install', 'narrow')).toMatchObject({
    read_only: true,
    account: { id: account, name: 'Harbour Agency' },
    installs: ['narrow'],
  });
  const [list, table] = await Promise.all([
    json('credential', 'list', '--user', 'dora@people.example'),
    cli('credential', 'list', '--user', 'dora@people.example'),
  ]);
  expect(list).toMatchObject([
    { read_only: true, account: { id: account, name: 'Harbour Agency' }, installs: ['narrow'] },
  ]);
  expect(table.stdout).toContain('reads narrow of Harbour Agency');
});

test('an invitation waits for a server; a known person is added and keeps their name', async () => {
  await addInstall('given');
  const other = text(await json('account', 'create', '--name', 'Other'), 'id');
  const words = ['--first-name', 'X', '--last-name', 'Y', '--roles', 'owner', '--account', other];
  const [invited, known] = await Promise.all([
    cli(...person('ben@people.example', '--roles', 'partial', '--install', 'given', '--invite')),
    json('user', 'create', '--email', 'Ann@People.example', ...words),
  ]);
  expect(invited).toMatchObject({ code: 0, stderr: '' });
  expect(invited.stdout).toMatch(
    /^Added ben@people\.example .*: partial\.\nThe invitation will be sent when a server runs/,
  );
  expect(known).toMatchObject({ first_name: 'Ann', last_name: 'Lee', roles: 'owner' });
  const [members, all] = await Promise.all([cli('user', 'list', '--account', account), json('user', 'list')]);
  expect(members.stdout).toContain('partial (invited)');
  expect(members.stdout).not.toContain('Other');
  expect(all).toContainEqual(
    expect.objectContaining({
      email: 'Ann@people.example',
      accounts: [
        expect.objectContaining({ id: account }),
        expect.objectContaining({ id: other, roles: 'owner' }),
      ],
    }),
  );
});

test('installs are listed with their accounts, which a name is enough for', async () => {
  const all = await json('install', 'list');
  expect(all).toContainEqual(
    expect.objectContaining({
      name: 'given',
      status: 'active',
      account: { id: account, name: 'Harbour Agency' },
      host: null,
    }),
  );
  expect(await json('install', 'list', '--account', 'Harbour Agency')).toEqual(all);
  expect((await cli('install', 'list')).stdout).toMatch(
    /^NAME .*ACCOUNT\n.*given +active .* Harbour Agency$/ms,
  );
  const database = openDatabase(place.settings, silent);
  const loss = (lost_data: string | null) =>
    database.write(({ queries }) =>
      queries.updateTable('installs').set({ lost_data }).where('name', '=', 'given').execute(),
    );
  await loss('wp-config.php is missing.');
  expect((await cli('install', 'list')).stdout).toMatch(
    /^given +closed .*\ngiven is closed to visitors, because data is missing\. wp-config\.php is missing\.\n/ms,
  );
  expect(await json('install', 'list')).toContainEqual(
    expect.objectContaining({ name: 'given', lost_data: 'wp-config.php is missing.' }),
  );
  await loss(null);
  await database.close();
  const { id: empty } = Object(await json('account', 'create', '--name', 'Empty Agency'));
  expect(await cli('install', 'list', '--account', empty)).toMatchObject({
    code: 0,
    stdout: 'There are no installs in Empty Agency yet.\n',
  });
  await json('account', 'create', '--name', 'Empty Agency');
  await refused(['user', 'list', '--account', 'Empty Agency'], /There are 2 accounts named "Empty Agency"/);
});

test('an install is created in a named account, and without a server only of files', async () => {
  const words = ['install', 'create', 'fresh', '--account', account];
  await refused(words, /^homeport: Homeport is not running\. Start it/);
  await refused(['install', 'create', 'fresh'], /There are several accounts/);
  await refused(['install', 'create', 'No!'], /"No!" cannot be the name of an install/);
  const site = await addSite('Harbour Shop');
  const where = ['--site', 'Harbour Shop', '--environment', 'staging'];
  expect(await json(...words, ...where, '--runtime', 'static')).toMatchObject({
    install_name: 'fresh',
    wordpress_version: null,
    sign_in: null,
  });
  const database = openDatabase(place.settings, silent);
  const created = database.reader.selectFrom('installs').select(['site_id', 'environment']);
  expect(await created.where('name', '=', 'fresh').execute()).toEqual([
    { site_id: site, environment: 'staging' },
  ]);
  await database.close();
  await refused([...words, '--runtime', 'static'], /The install fresh exists already and is active/);
  const another = ['install', 'create', 'another', '--account', account];
  await refused([...another, '--site', 'Shop'], /^homeport: There is no site "Shop" in Harbour Agency\.$/m);
  await refused(
    [...another, '--environment', 'live'],
    /"live" is no environment. Choose one of production, staging/,
  );
});

describe('what cannot be done is one line, and 1', () => {
  const mistakes: [string, () => string[], string | RegExp][] = [
    [
      'an account that is not there',
      () => ['user', 'list', '--account', UNKNOWN_ID],
      `There is no account ${UNKNOWN_ID}; list them with "homeport account list".`,
    ],
    [
      'a person for no account',
      () => person('c@people.example', '--roles', 'full').with(3, UNKNOWN_ID),
      `There is no account ${UNKNOWN_ID}`,
    ],
    ['an address that is none', () => person('nonsense', '--roles', 'full'), 'must be like name@example.com'],
    [
      'an install that is not there',
      () => person('c@people.example', '--roles', 'partial', '--install', 'given', '--install', 'nope'),
      'There is no install "nope" in this account',
    ],
    [
      'an install for a user who sees all installs',
      () => person('c@people.example', '--roles', 'full', '--install', 'given'),
      '--install is for partial users',
    ],
    [
      'credentials for an unknown user',
      () => ['credential', 'create', '--user', 'c@people.example'],
      'There is no user with the address c@people.example',
    ],
    [
      'credentials of an unknown user',
      () => ['credential', 'list', '--user', 'c@people.example'],
      'There is no user with the address c@people.example',
    ],
    [
      'credentials that end before they begin',
      () => ['credential', 'create', '--user', 'ann@people.example', '--expires', '2020-01-01'],
      '--expires 2020-01-01 is in the past',
    ],
    [
      'credentials for an account that the person is not in',
      () => ['credential', 'create', '--user', 'ann@people.example', '--account', 'Nowhere'],
      'Ann@people.example is in no account "Nowhere"',
    ],
    [
      'credentials for installs of no account',
      () => ['credential', 'create', '--user', 'ann@people.example', '--install', 'given'],
      '--install needs --account',
    ],
    [
      'credentials for an install that is not there',
      () => [
        ...['credential', 'create', '--user', 'ann@people.example'],
        ...['--account', account, '--install', 'given', '--install', 'nope'],
      ],
      'The owner of the credential sees no install "nope" in the account.',
    ],
    [
      'credentials that are not there',
      () => ['credential', 'revoke', UNKNOWN_ID],
      `There are no credentials ${UNKNOWN_ID}`,
    ],
    [
      'a backup that is not there',
      () => ['backup', 'restore', UNKNOWN_ID, '--yes'],
      `There is no backup ${UNKNOWN_ID}`,
    ],
  ];
  test.each(mistakes)('%s', async (_what, words, line) => {
    await refused(words(), line);
  });

  test('and no user was added', async () => {
    expect(JSON.stringify(await json('user', 'list'))).not.toContain('c@people.example');
  });
});

describe('a configuration that cannot be used is one line, and 1', () => {
  test.concurrent('a setting that there is none of, in the environment and in a file', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'homeport.env');
    writeFileSync(file, 'HOMEPORT_LISTEM=127.0.0.1:1\n');
    const line =
      /^homeport: There is no setting HOMEPORT_LISTEM\. The nearest is HOMEPORT_LISTEN; docs\/configuration.md lists them all\.\n$/;
    const [fromEnvironment, fromFile, missing, doctor] = await Promise.all([
      call({ ...environment, HOMEPORT_LISTEM: 'x' }, 'account', 'list'),
      call(environment, '--config', file, 'account', 'list'),
      run(environment, '--config', `${file}.old`, 'serve'),
      call({ ...environment, HOMEPORT_RESOLVERS: '127.0.0.1:9' }, '--config', file, 'doctor', '--json'),
    ]);
    for (const ended of [fromEnvironment, fromFile]) {
      expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(line) });
    }
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^homeport: The configuration file .* cannot be read.*\n$/),
    });
    expect(doctor.code).toBe(1);
    expect(JSON.parse(doctor.stdout)).toEqual({
      ok: false,
      checks: [
        {
          check: 'configuration',
          state: 'problem',
          message: expect.stringContaining('HOMEPORT_LISTEM'),
          remedy: expect.any(String),
        },
      ],
    });
    folder.remove();
  });

  test.concurrent('a data folder that is none, and a database that is none', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'data');
    writeFileSync(file, '');
    writeFileSync(
      join(folder.path, 'homeport.sqlite'),
      'not a database, but long enough to be one'.repeat(100),
    );
    const damaged = { HOMEPORT_DATA_DIR: folder.path };
    const ended = await Promise.all([
      call({ ...environment, HOMEPORT_DATA_DIR: file }, 'migrate'),
      call(damaged, 'migrate'),
      call(damaged, 'account', 'list'),
      ...(isLong ? [run({ ...environment, HOMEPORT_DATA_DIR: file }, 'serve'), run(damaged, 'serve')] : []),
    ]);
    const lines = ended.map(({ code, stderr }) => ({ code, line: stderr }));
    const unusable = expect.stringMatching(
      /^homeport: The data folder .* cannot be used .*HOMEPORT_DATA_DIR\.\n$/,
    );
    const noDatabase = expect.stringMatching(
      /^homeport: The database cannot be used: file is not a database\. It is in .*\n$/,
    );
    expect(lines).toEqual([
      { code: 1, line: unusable },
      ...Array(2).fill({ code: 1, line: noDatabase }),
      // A server opens the folder and the database as commands do.
      ...(isLong ? [unusable, noDatabase] : []).map((line) => ({ code: 1, line })),
    ]);
    expect(readFileSync(join(folder.path, 'homeport.sqlite'), 'utf8')).toMatch(/^not a database/);
    expect(readdirSync(folder.path)).not.toContain('homeport.sqlite-wal');
    folder.remove();
  });

  test.concurrent('a database server that does not answer, without its password', async () => {
    const folder = temporaryFolder();
    const { code, stderr } = await call(
      {
        HOMEPORT_DATA_DIR: folder.path,
        HOMEPORT_DATABASE_URL: 'postgres://someone:topsecret@127.0.0.1:1/none',
      },
      'migrate',
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'homeport: The database cannot be used: connect ECONNREFUSED 127.0.0.1:1. Look at HOMEPORT_DATABASE_URL.\n',
    });
    folder.remove();
  });
});

test('shows and sets the limits of an account', async () => {
  const none = { visitors: null, storage: null, bandwidth: null };
  expect(await json('account', 'limits', 'Harbour Agency')).toEqual(none);
  const set = ['account', 'limits', account, '--visitors', '1000', '--storage', '50GB'];
  expect(await json(...set)).toEqual({ visitors: 1000, storage: 50 * 1024 ** 3, bandwidth: null });
  expect(await json('account', 'limits', account, '--visitors', 'none', '--bandwidth', '7')).toEqual({
    visitors: null,
    storage: 50 * 1024 ** 3,
    bandwidth: 7,
  });
  expect((await cli('account', 'limits', account)).stdout).toMatch(/Harbour Agency +none +53687091200 +7/);
  expect(await cli('account', 'limits', account, '--storage', '1.5GB')).toMatchObject({
    code: 1,
    stdout: '',
  });
  await refused(['account', 'limits', 'Unknown'], /There is no account "Unknown"/);
});
