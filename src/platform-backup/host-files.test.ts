import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { silent, temporaryFolder } from '../../test/database.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { websiteParts } from '../app/embedded-websites.ts';
import { systemClock } from '../lib/clock.ts';
import { createPlatformBackup } from './create.ts';
import { openStorage } from './destination.ts';
import { restorePlatformBackup } from './restore.ts';

let homeport: TestHomeport;
let folder: ReturnType<typeof temporaryFolder>;

beforeAll(async () => {
  folder = temporaryFolder();
  homeport = await startTestHomeport();
});
afterAll(async () => {
  await homeport?.remove();
  folder.remove();
});

it('restores each file of the host that a backup can hold', async () => {
  const { config } = homeport;
  const websites = websiteParts(config, systemClock);
  if (websites === null) throw new Error('the embedded host has websites');
  const { hostFileNames } = websites;
  expect(hostFileNames).toContain('php.json');
  for (const name of hostFileNames) {
    const file = join(config.dataDir, 'host', name);
    if (!existsSync(file)) writeFileSync(file, `of ${name}`);
  }
  const storage = openStorage(join(folder.path, 'backups'), {
    credentials: null,
    staging: folder.path,
    log: silent,
  });
  const options = { storage, websites, version: '0.0.0' };
  const { name } = await createPlatformBackup(homeport.platform, { ...options, withSealingKey: true });
  const restored = { ...config, dataDir: join(folder.path, 'restored') };
  await restorePlatformBackup(restored, {
    ...options,
    name,
    sealingKey: null,
    withoutSealingKey: false,
    log: silent,
  });
  const contents = (dataDir: string) =>
    hostFileNames.map((one) => readFileSync(join(dataDir, 'host', one), 'utf8'));
  expect(contents(restored.dataDir)).toEqual(contents(config.dataDir));
});
