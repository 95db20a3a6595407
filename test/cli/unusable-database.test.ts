import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../database.ts';
import { onlyInLong, rounds } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';
import { call } from './call-homeport.ts';
import { type Environment, run } from './run-homeport.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** One line that says what to do, and no stack. */
async function refusal(environment: Environment, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await call(environment, ...words);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return stderr;
}

test('a data folder that cannot be made ends the start at once', async () => {
  // Node's own mkdir never returns for these, so it would hold up this process.
  const starts = [
    { dataDir: '/proc/x', command: 'serve' },
    { dataDir: '/proc/x/y', command: 'migrate' },
  ];
  const printed = await Promise.all(
    rounds(starts.slice(1), starts).map(({ dataDir, command }) =>
      run({ HOMEPORT_DATA_DIR: dataDir }, command),
    ),
  );
  for (const { stderr } of printed) {
    expect(stderr).toMatch(
      /^homeport: The data folder \/proc\/x(\/y)? cannot be used \((EACCES|ENOENT).*\)\. Make it a folder .* in HOMEPORT_DATA_DIR\.\n$/,
    );
  }
});

test('a data folder that is a file', async () => {
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  const printed = await refusal({ HOMEPORT_DATA_DIR: file }, 'migrate');
  expect(printed).toContain(`${file} cannot be used (${file} is a file, not a folder).`);
});

test('a data folder that cannot be looked into is not taken for none', async () => {
  symlinkSync('homeport.sqlite', join(folder.path, 'homeport.sqlite'));
  expect(await refusal({ HOMEPORT_DATA_DIR: folder.path }, 'account', 'list')).toMatch(
    /cannot be read \(ELOOP.*Run this as the user that Homeport runs as/,
  );
});

onlyInLong(test)('a database that another program keeps locked', async () => {
  const environment = { HOMEPORT_DATA_DIR: folder.path };
  expect(await call(environment, 'migrate')).toMatchObject({ code: 0 });
  const other = new Sqlite(join(folder.path, 'homeport.sqlite'));
  other.exec('begin immediate');
  try {
    expect(await refusal(environment, 'account', 'create', '--name', 'X')).toMatch(
      /The database cannot be used: database is locked\. It is in /,
    );
  } finally {
    other.close();
  }
});

test('a database that a newer version has upgraded', async () => {
  const environment = { HOMEPORT_DATA_DIR: folder.path };
  expect(await call(environment, 'migrate')).toMatchObject({ code: 0 });
  const database = new Sqlite(join(folder.path, 'homeport.sqlite'));
  database.exec(`insert into kysely_migration (name, timestamp) values ('9999-later', '2027-01-01');
    update program_version set version = '7.8.9'`);
  database.close();
  expect(await refusal(environment, 'account', 'list')).toMatch(
    /^homeport: The database was brought up to date by Homeport 7\.8\.9 .* Run Homeport 7\.8\.9 or newer, or restore/,
  );
  const { stdout } = await call(environment, 'doctor', '--json');
  expect(JSON.parse(stdout).checks).toContainEqual(
    expect.objectContaining({ check: 'schema', state: 'problem', remedy: expect.stringContaining('7.8.9') }),
  );
});

test('a server that is away', async () => {
  const environment = {
    HOMEPORT_DATA_DIR: folder.path,
    HOMEPORT_DATABASE_URL: `postgres://someone:topsecret@127.0.0.1:${await freePort()}/homeport`,
  };
  const line = await refusal(environment, 'account', 'list');
  expect(line).toMatch(/cannot be used: .*ECONNREFUSED.* Look at HOMEPORT_DATABASE_URL/);
  expect(line).not.toContain('topsecret');
});
