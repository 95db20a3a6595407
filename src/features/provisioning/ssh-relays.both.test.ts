import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { newSshKey } from '../../../test/ssh-key.ts';
import type { HostDescription } from '../../hosting/contract/host.ts';
import type { HostQuestions } from '../../hosting/contract/questions.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { environment } from '../hosts/fleet.fixture.ts';
import { findHost } from '../hosts/store.ts';
import { fingerprintSha256 } from '../identity/ssh-keys/public-key.ts';
import { hostQuestions } from './host-questions.ts';

let machine: ServedMachine;
let homeport: TestHomeport;
let owner: Person;
let clock: ManualClock;
let install: { id: string; name: string };
let serving: string;
let entry: string;
/** Of the owner's key. */
let fingerprint: string;
let keyId: string;

const asks = (hostId: string): HostQuestions => hostQuestions(homeport.platform, hostId);
const pass = (address: string | null = '192.0.2.9') => ({ fingerprintSha256: randomUUID(), address });

/** Changes what a host has said of itself. */
async function describe(id: string, changes: Partial<HostDescription>): Promise<void> {
  const { database } = homeport.platform;
  const present = (await findHost(database.reader, { id }))?.description ?? machine.description;
  const description = JSON.stringify({ ...present, id, ...changes });
  await database.write(({ queries }) =>
    queries.updateTable('hosts').set({ description }).where('id', '=', id).execute(),
  );
}

const edge = (port: number) => ({
  ...{ host: `10.0.0.${port}`, port: 8471 },
  identity: { authority: '0'.repeat(64), notAfter: '2030-01-01T00:00:00.000Z' },
});

beforeAll(async () => {
  clock = manualClock(new Date());
  machine = await serveMachine();
  homeport = await startTestHomeport({ clock, environment: environment(machine.runFolder) });
  const { accountId, owner: person } = await homeport.ownedAccount();
  owner = person;
  install = await homeport.install(owner, accountId);
  const { hosts } = homeport.services;
  serving = (await hosts.list())[0]?.id ?? '';
  await hosts.add('web2', 'https://127.0.0.1:9');
  entry = (await hosts.find('web2')).id;
  const key = newSshKey();
  const added = await owner.client.post('/ssh_keys', { public_key: key.public });
  keyId = text(added.body, 'uuid');
  fingerprint = fingerprintSha256(Buffer.from(key.public.split(' ')[1] ?? '', 'base64'));
  const ports = { http: 80, https: 443, ssh: 2022 };
  const sshHostKeys = ['ssh-ed25519 AAAA'];
  await describe(serving, { ports, sshHostKeys, forwarding: edge(1), sshRelay: { host: null } });
  await describe(entry, { forwarding: edge(2) });
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.close();
});

test('a host passes a user on to the host of the install, with a key that counts there as the user’s', async () => {
  const owners = { install: expect.objectContaining(install), userId: expect.any(String) };
  expect(await asks(entry).sshLogin(install.name, fingerprint)).toBeNull();
  const way = { host: '10.0.0.1', port: 2022, hostKeys: ['ssh-ed25519 AAAA'] };
  expect(await asks(entry).sshRelay(install.name, fingerprint, null)).toEqual({ ...owners, ...way });
  const key = pass();
  expect(await asks(serving).sshLogin(install.name, key.fingerprintSha256)).toBeNull();
  expect(await asks(entry).sshRelay(install.name, fingerprint, key)).toEqual({ ...owners, ...way });
  expect(await asks(serving).sshLogin(install.name, key.fingerprintSha256)).toEqual({
    ...owners,
    relayed: { fingerprintSha256: fingerprint, by: 'web2', address: '192.0.2.9' },
  });
  // For this install only, and for seconds.
  expect(await asks(serving).sshLogin('another', key.fingerprintSha256)).toBeNull();
  expect(await asks(entry).sshLogin(install.name, key.fingerprintSha256)).toBeNull();
  clock.advance(30_000);
  expect(await asks(serving).sshLogin(install.name, key.fingerprintSha256)).toBeNull();
  await asks(entry).sshRelay(install.name, fingerprint, pass(null));
  const rows = await homeport.platform.database.reader.selectFrom('ssh_passes').select('address').execute();
  expect(rows).toEqual([{ address: null }]);
});

test('a single address where SSH listens goes before that of the edge', async () => {
  await describe(serving, { sshRelay: { host: '10.9.9.9' } });
  expect(await asks(entry).sshRelay(install.name, fingerprint, null)).toMatchObject({ host: '10.9.9.9' });
});

test('no host is passed to itself, and none of an earlier version or outside of the edges takes part', async () => {
  expect(await asks(serving).sshRelay(install.name, fingerprint, null)).toBeNull();
  expect(await asks(randomUUID()).sshRelay(install.name, fingerprint, null)).toBeNull();
  await describe(entry, { forwarding: undefined });
  expect(await asks(entry).sshRelay(install.name, fingerprint, null)).toBeNull();
  await describe(entry, { forwarding: edge(2) });
  await describe(serving, { sshRelay: undefined });
  expect(await asks(entry).sshRelay(install.name, fingerprint, null)).toBeNull();
  await describe(serving, { sshRelay: { host: null } });
});

test('a key that is passed on goes with the access of its user, and with the host that passed it', async () => {
  const key = pass();
  const login = () => asks(serving).sshLogin(install.name, key.fingerprintSha256);
  const later = (by?: string) => asks(serving).sshLogin(install.name, fingerprint, by);
  await asks(entry).sshRelay(install.name, fingerprint, key);
  expect(await login()).not.toBeNull();
  expect(await later('web2')).not.toBeNull();
  expect(await later('removed')).toBeNull();
  const { lostHosts } = homeport.services;
  await lostHosts.giveUp('web2');
  expect(await login()).toBeNull();
  expect([await later('web2'), await later()]).toEqual([null, expect.anything()]);
  expect(await asks(entry).sshRelay(install.name, fingerprint, null)).toBeNull();
  await lostHosts.takeBack('web2');
  expect(await login()).not.toBeNull();
  await owner.client.delete(`/ssh_keys/${keyId}`);
  expect(await login()).toBeNull();
  expect(await asks(entry).sshRelay(install.name, fingerprint, pass())).toBeNull();
});
