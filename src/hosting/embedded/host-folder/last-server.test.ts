import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/database.ts';
import { createLastServer } from './last-server.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, 'host'));
});
afterEach(() => folder.remove());

const lastServer = (boot: string | null = 'first-boot', name = 'host') =>
  createLastServer(join(folder.path, name, 'last-server.json'), async () => boot);

it('is known in the same folder until the machine reboots', async () => {
  expect(await lastServer().read()).toBeNull();
  await lastServer().note('web1:17');
  expect(await lastServer().read()).toBe('web1:17');
  expect(await lastServer('second-boot').read()).toBeNull();
  expect(await lastServer(null).read()).toBeNull();
});

it('is not known in a copy of the folder', async () => {
  await lastServer().note('web1:17');
  cpSync(join(folder.path, 'host'), join(folder.path, 'copy'), { recursive: true });
  expect(await lastServer('first-boot', 'copy').read()).toBeNull();
});

it('is not known if the record is damaged', async () => {
  writeFileSync(join(folder.path, 'host', 'last-server.json'), '{"boot":');
  expect(await lastServer().read()).toBeNull();
});
