import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { visit } from '../edge.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';
import { copyAsVersion, wordpressCore } from './wordpress-core.ts';

let machine: TestMachine;
beforeAll(async () => {
  machine = await createPreparedMachine({}, { ownCores: true });
});
afterAll(() => machine?.remove());

async function statusOf(name: string): Promise<number> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  return (await visit({ hosting }, `http://${name}.sites.test/`)).status;
}

/** Looks like WordPress, but its installation fails. */
async function brokenCore(version: string): Promise<string> {
  const folder = join(machine.folder, `broken-${version}`);
  await copyAsVersion(wordpressCore(), folder, version);
  await writeFile(
    join(folder, 'wp-admin/includes/upgrade.php'),
    '<?php throw new Exception("half a release");',
  );
  return folder;
}

test('a WordPress that cannot be installed is not added, and does not affect websites', async () => {
  const { host, stop } = await machine.start();
  const shop = plainState('shop');
  await host.apply(shop);
  const before = (await host.describe()).wordpressVersions;
  const source = await brokenCore('99.1');
  await expect(host.addWordpress(source)).rejects.toThrow(
    /WordPress 99\.1 cannot be installed and was removed: .*half a release/s,
  );
  expect((await host.describe()).wordpressVersions).toEqual(before);
  await stop();

  // As left by a host that was killed before it could tell.
  await cp(source, linuxLayout(machine.folder, machine.runFolder).coreOf('99.1'), { recursive: true });
  const again = await machine.start();
  expect(await statusOf('shop')).toBe(200);
  await expect(again.host.apply(plainState('new'))).rejects.toThrow(/half a release/);
  await expect(again.host.addWordpress(source)).rejects.toThrow(/and was removed/);
  await again.host.apply(plainState('new'));
  expect(await statusOf('new')).toBe(200);
  await again.stop();
}, 120_000);
