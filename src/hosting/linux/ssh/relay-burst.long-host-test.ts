import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { type SshHost, startSshHost } from './ssh-host.fixture.ts';

/** More than sshd lets one address sign in at the same time. */
const SESSIONS = 14;

let entry: SshHost;
let serving: SshHost;

beforeAll(async () => {
  serving = await startSshHost(391_340);
  entry = await startSshHost(391_360, {}, { ownUsers: true });
});
afterAll(async () => {
  await entry?.remove();
  await serving?.remove();
});

test('many sessions that begin at once are all passed on, and their keys are gone', async () => {
  const shop = await serving.install('hptburstshop');
  const key = await entry.key();
  serving.allow(shop, key);
  entry.elsewhere.names.add(shop.install.name);
  await entry.setRelays();
  entry.elsewhere.relay = async (name, fingerprint, pass) => {
    const login = serving.allowed.get(`${name} ${fingerprint}`);
    if (login === undefined) return null;
    if (pass !== null) {
      const relayed = { fingerprintSha256: fingerprint, by: 'web1', address: pass.address };
      serving.allowed.set(`${name} ${pass.fingerprintSha256}`, { ...login, relayed });
    }
    return { ...login, host: '127.0.0.1', port: serving.server.port(), hostKeys: serving.server.hostKeys() };
  };
  // Users have addresses of their own. At the other host, all sessions come from one.
  const all = await Promise.all(
    Array.from({ length: SESSIONS }, async (_, at) => {
      const line = entry.sshArguments(shop.install.name, key, ['echo in'], ['-b', `127.0.0.${at + 2}`]);
      return (await runCommand('/usr/bin/ssh', line)).stdout;
    }),
  );
  expect(all).toEqual(all.map(() => 'in\n'));
  const passes = await readdir(join(entry.layout.runFolder, 'ssh-passes'), { recursive: true });
  expect(passes.filter((file) => file.endsWith('/key'))).toEqual([]);
});
