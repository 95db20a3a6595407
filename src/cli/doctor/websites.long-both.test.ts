import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { onlyOn } from '../../../test/only-on.ts';
import { checkPages } from './website-pages.ts';
import { checkWebsites } from './websites.ts';

let homeport: TestHomeport;
let shop: { id: string; name: string };
let blog: { id: string; name: string };

beforeAll(async () => {
  homeport = await startTestHomeport();
  const { accountId, owner } = await homeport.ownedAccount();
  shop = await homeport.install(owner, accountId);
  blog = await homeport.install(owner, accountId);
});
afterAll(() => homeport?.remove());

const look = () => checkWebsites(homeport.platform.database, homeport.config);
const inHost = (...path: string[]) => join(homeport.config.dataDir, 'host', ...path);

test('all are there', async () => {
  expect(await look()).toMatchObject({ state: 'ok', message: '2 installs are served.' });
});

test('without WordPress have no pages to request', async () => {
  expect(await checkPages(homeport.platform.database, homeport.config)).toEqual([]);
});

test('names an install that the edge does not know, with the fix', async () => {
  rmSync(inHost('vhosts', `${shop.id}.json`));
  expect(await look()).toMatchObject({
    state: 'problem',
    message: `Not served, although the files exist: ${shop.name}.`,
    remedy: 'Run "homeport install apply NAME" for each.',
  });
});

test('so is one whose files are gone', async () => {
  cpSync(inHost('installs', blog.id), inHost('kept'), { recursive: true });
  rmSync(inHost('installs', blog.id), { recursive: true });
  expect(await look()).toMatchObject({
    state: 'problem',
    message: `The files of ${blog.name} are not in the data folder; ${shop.name} can be served again.`,
  });
  cpSync(inHost('kept'), inHost('installs', blog.id), { recursive: true });
});

onlyOn('postgres', test)('another folder than the one that websites are served from', async () => {
  const { config, platform } = homeport;
  const elsewhere = await checkWebsites(platform.database, {
    ...config,
    dataDir: join(config.dataDir, 'other'),
  });
  expect(elsewhere).toMatchObject({
    state: 'ok',
    message: expect.stringContaining(`They are served from ${config.dataDir} on `),
  });
  writeFileSync(inHost('id'), '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11\n');
  expect(await look()).toMatchObject({
    state: 'problem',
    remedy: expect.stringContaining('homeport host take-over'),
  });
});
