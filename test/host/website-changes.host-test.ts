import { afterAll, beforeAll } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { connectHost, type RemoteHost } from '../../src/hosting/remote/client.ts';
import { testItemChanges } from '../../src/hosting/websites/changes/change-cases.fixture.ts';
import type { ChangedWebsite } from '../../src/hosting/websites/changes/changed-website.fixture.ts';
import { testUpdates } from '../../src/hosting/websites/changes/update-cases.fixture.ts';
import { visit } from '../edge.ts';
import { isLong } from '../rounds.ts';
import { changedWebsite } from './changed-website.ts';
import type { TestMachine } from './machine.ts';
import { installPlugin } from './plugin-source.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';

/**
 * Updates that both hosts pass, and in the long tests changes of plugins, which `npm test` has on the embedded host. Their variants are in
 * wordpress-changes, wordpress-updates and website-probe, which are long.
 */
let machine: TestMachine;
let running: RunningMachine;
let host: RemoteHost;
let website: ChangedWebsite;

beforeAll(async () => {
  machine = await createPreparedMachine({}, { ownCores: true });
  const layout = linuxLayout(machine.folder, machine.runFolder);
  running = await machine.start({ checkPace: { pageMs: 20_000, pauseMs: 100 } });
  host = connectHost({ name: 'test', socket: `${machine.runFolder}/host.sock` });
  host.answer(
    { backupPassword: async () => 'of the test', sshLogin: async () => null, sshRelay: async () => null },
    () => {},
  );
  const [version = ''] = (await host.describe()).wordpressVersions;
  const install = { ...plainState('changed'), wordpressVersion: version };
  await host.apply(install);
  const files = await installPlugin(layout, install);
  // It is active by SQL, which the object cache does not see.
  await host.purge(install, 'object');
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  const page = (path: string) => visit({ hosting }, `http://${install.primaryHostname}${path}`);
  website = changedWebsite({ host, install, files, layout, page });
});
afterAll(async () => {
  await host?.close();
  await running?.stop().catch(() => {});
  await machine?.remove();
});

if (isLong) testItemChanges(() => website);
testUpdates(() => website);
