import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCgroups } from '../../src/hosting/linux/daemons/cgroups.ts';
import { cgroupOf } from '../../src/hosting/linux/websites/provisioning.ts';
import { runCommand } from '../../src/lib/run-command.ts';
import { silent } from '../database.ts';
import { visit } from '../edge.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { plainState } from './state.ts';

let machine: TestMachine;
beforeAll(async () => {
  machine = await createPreparedMachine();
});
afterAll(() => machine?.remove());

test('after a restart of the machine, the run folder, limits and the firewall are created again', async () => {
  const install = plainState('rebooted');
  const before = await machine.start();
  await before.host.apply(install);
  await before.stop();

  await rm(machine.runFolder, { recursive: true });
  const cgroups = createCgroups({ instance: machine.instance, log: silent });
  for (const name of [...(await cgroups.list()), 'none']) await cgroups.remove(name);
  await runCommand('nft', ['delete', 'table', 'inet', `homeport_${machine.instance}`]);

  const after = await machine.start();
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const addresses = { hosting: { edgeHttp, edgeHttps, ssh: sshListen } };
  // Bypasses the page cache, which needs no PHP.
  const page = await visit(addresses, `http://${install.primaryHostname}/`, {
    cookie: 'wordpress_logged_in_test=1',
  });
  expect(page.status).toBe(200);
  expect(page.headers['x-cache']).toBe('BYPASS');
  expect(page.body).toContain('/wp-content/');
  expect(await cgroups.list()).toContain(cgroupOf(install.id));
  expect(await after.host.inspect([install], false)).toEqual([]);
  // Another new website needs a place below the run folder too.
  const other = plainState('after-reboot');
  await after.host.apply(other);
  expect((await visit(addresses, `http://${other.primaryHostname}/`)).status).toBe(200);
  await after.host.remove(other);
  await after.host.remove(install);
});
