import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../database.ts';
import { freePort } from '../servers/free-port.ts';
import { type Environment, run } from './run-homeport.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** One line that says what to do, and no stack. */
async function refusal(environment: Environment, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(environment, ...words);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  return stderr;
}

test('a data folder that cannot be looked into is not taken for none', async () => {
  symlinkSync('homeport.sqlite', join(folder.path, 'homeport.sqlite'));
  expect(await refusal({ HOMEPORT_DATA_DIR: folder.path }, 'account', 'list')).toMatch(
    /cannot be looked into \(ELOOP.*Run this as the user that Homeport runs as/,
  );
});

test('a database that another program keeps locked', async () => {
  const environment = { HOMEPORT_DATA_DIR: folder.path };
  expect(await run(environment, 'migrate')).toMatchObject({ code: 0 });
  const other = new Sqlite(join(folder.path, 'homeport.sqlite'));
  other.exec('begin immediate');
  try {
    expect(await refusal(environment, 'account', 'create', '--name', 'X')).toMatch(
      /The database cannot be used: database is locked\. It lies in /,
    );
  } finally {
    other.close();
  }
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
