import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import type { InstallState } from '../../src/hosting/contract/install-state.ts';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { requirePackagedFiles } from '../../src/hosting/wordpress/packaged-files.ts';
import { type Visit, visit } from '../edge.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';
import { wordpressCore } from './wordpress-core.ts';

let machine: TestMachine;
let running: RunningMachine;
let install: InstallState;
let layout: LinuxLayout;
let htdocs: string;

beforeAll(async () => {
  machine = await createPreparedMachine(
    { HOMEPORT_WP_CLI_SOURCE: requirePackagedFiles().wpCli },
    { ownCores: true },
  );
  running = await machine.start();
  install = plainState('rooted');
  await running.host.apply(install);
  layout = linuxLayout(machine.folder, machine.runFolder);
  htdocs = layout.htdocsOf(install.id);
  await writeFile(join(htdocs, 'wp-content/mu-plugins/roots.php'), PLUGIN);
});
afterAll(() => machine?.remove());

/** Shows what WordPress takes as its folder, and writes a file there as plugins do. */
const PLUGIN = `<?php
add_action('init', function () {
    if (isset($_GET['root'])) {
        require_once ABSPATH . 'wp-admin/includes/file.php';
        file_put_contents(get_home_path() . 'robots.txt', "of the plugin\\n");
        exit(ABSPATH);
    }
});
`;

const look = (path: string): Promise<Visit> => {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  return visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, `http://rooted.sites.test${path}`);
};

async function wp(...args: string[]) {
  const outcome = await running.host.runWpCli(install, args);
  if ('refused' in outcome) throw new Error(outcome.reason);
  return outcome;
}

test('visitors get what a plugin writes in its ABSPATH, which is that of WP-CLI', async () => {
  expect((await look('/?root')).body).toBe(`${htdocs}/`);
  await expect.poll(async () => (await look('/robots.txt')).body).toBe('of the plugin\n');
  expect(await wp('eval', 'echo ABSPATH, get_option("siteurl");')).toMatchObject({
    stdout: expect.stringContaining(`${htdocs}/http`),
    exitStatus: 0,
  });
  expect(await running.host.inspect([install], false)).toEqual([]);
});

test('a website of an earlier host gets it at the next start, with the line for WP-CLI', async () => {
  const { wordpressVersions } = await running.host.describe();
  await running.stop();
  for (const version of wordpressVersions) await makeEarlier(layout.coreOf(version));
  const config = join(htdocs, 'wp-config.php');
  const complete = await readFile(config, 'utf8');
  await writeFile(config, complete.replace("/* That's all, stop editing! Happy publishing. */\n\n", ''));
  running = await machine.start();
  expect((await look('/?root')).body).toBe(`${htdocs}/`);
  expect(await readFile(config, 'utf8')).toBe(complete);
  expect(await wp('config', 'set', 'WP_CACHE', 'false', '--raw')).toMatchObject({ exitStatus: 0 });
  expect((await look('/?again')).status).toBe(200);
  expect(await running.host.inspect([install], false)).toEqual([]);
});

/** Makes a core as an earlier host left it. */
async function makeEarlier(core: string): Promise<void> {
  for (const name of ['document-root.php', 'website.php']) await rm(join(core, 'homeport', name));
  // Other hosts have hard links to it.
  await rm(join(core, 'wp-load.php'));
  await writeFile(join(core, 'wp-load.php'), await readFile(join(wordpressCore(), 'wp-load.php')));
}
