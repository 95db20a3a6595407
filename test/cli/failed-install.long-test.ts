import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { text } from '../client.ts';
import { visit } from '../edge.ts';
import { installName, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';
import { call, callJson } from './call-homeport.ts';
import { type Ended, type Environment, environmentFor } from './run-homeport.ts';

let clock: ManualClock;
let homeport: TestHomeport;
let environment: Environment;
let accountId: string;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
  ({ accountId } = await homeport.ownedAccount());
  environment = await environmentFor(homeport.place, { HOMEPORT_INSTALL_RUNTIME: 'static' });
  // Commands take a worker for dead whose last sign is 10 seconds old.
  clock.advance(60 * MINUTE_MS);
  await homeport.idle();
});
afterAll(() => homeport?.remove());

const cli = (...words: string[]) => call(environment, ...words);

/** Runs a command while a file is where the host keeps its folder of installs, until every attempt has failed. */
async function withoutFolder(...words: string[]): Promise<Ended> {
  const folder = join(homeport.config.dataDir, 'host', 'installs');
  renameSync(folder, `${folder}.aside`);
  writeFileSync(folder, '');
  try {
    let ended: Ended | undefined;
    void cli(...words).then((outcome) => {
      ended = outcome;
    });
    const soon = { timeout: 100_000, interval: 20 };
    await expect
      .poll(async () => {
        await homeport.idle();
        clock.advance(MINUTE_MS);
        return ended?.code;
      }, soon)
      .toBe(1);
    if (ended === undefined) throw new Error('it has not ended');
    return ended;
  } finally {
    renameSync(folder, `${folder}.${clock.now().getTime()}`);
    renameSync(`${folder}.aside`, folder);
    await cleanedUp();
  }
}

/** The host may have failed to remove the rest of an install, too. Later commands would wait for its next attempt, without passing time. */
async function cleanedUp(): Promise<void> {
  await vi.waitUntil(
    async () => {
      clock.advance(MINUTE_MS);
      await homeport.idle();
      const waiting = await homeport.platform.database.reader
        .selectFrom('jobs')
        .select('id')
        .where('kind', '=', 'remove_install')
        .where('state', 'in', ['queued', 'running'])
        .execute();
      return waiting.length === 0;
    },
    { timeout: 100_000, interval: 20 },
  );
}

test('an install whose creation failed is tried again, or deleted and created again', async () => {
  const name = installName();
  const advice = `Try again with "homeport install retry ${name}", or delete it with "homeport install delete ${name}".\n`;
  for (const command of ['create', 'retry']) {
    const { stderr } = await withoutFolder('install', command, name);
    expect(stderr).toContain(`homeport: ${name} could not be created: `);
    expect(stderr.endsWith(advice)).toBe(true);
  }
  expect(await cli('install', 'create', name)).toEqual({
    code: 1,
    stdout: '',
    stderr: `homeport: The install ${name} exists, and its creation failed. ${advice}`,
  });
  const failures = await callJson(environment, 'operation', 'list', '--status', 'failed', '--install', name);
  const [failure] = Array.isArray(failures) ? failures : [];
  expect(await callJson(environment, 'operation', 'show', text(failure, 'id'))).toMatchObject({
    kind: 'install.create',
    status: 'failed',
  });

  expect(await cli('install', 'retry', name)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${name} is ready`),
  });
  expect((await visit(homeport, `http://${name}.localhost/`)).status).toBe(200);
  expect(await callJson(environment, 'domain', 'list', name)).toMatchObject([
    { network_details: { network_info: { status: 'ACTIVE', ssl: { status: 'active' } } } },
  ]);
  expect((await cli('install', 'retry', name)).stderr).toContain('is active; only a failed one can be tried');
  expect((await cli('install', 'create', name)).stderr).toContain(
    `exists already and is active. See it with "homeport install show ${name}".`,
  );

  const other = installName();
  await withoutFolder('install', 'create', other);
  expect(await cli('install', 'delete', other, '--yes')).toMatchObject({ code: 0 });
  expect(await cli('install', 'create', other)).toMatchObject({ code: 0 });
  const entries = await homeport.platform.database.reader
    .selectFrom('activity')
    .select(['action', 'user_name'])
    .where('account_id', '=', accountId)
    .where('subject_name', '=', name)
    .orderBy('seq')
    .execute();
  expect(entries).toEqual(
    ['install.create', 'operation.retry', 'operation.retry'].map((action) => ({
      action,
      user_name: 'the operator',
    })),
  );
});
