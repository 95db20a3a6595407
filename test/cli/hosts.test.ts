import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { siteState } from '../../src/hosting/policy/edge.fixture.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../src/hosting/remote/identity.ts';
import { field, text } from '../client.ts';
import { type DatabasePlace, databasePlace } from '../database.ts';
import { startTestHomeport } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { call, callJson } from './call-homeport.ts';
import { begin, type Environment, environmentFor, run, serve } from './run-homeport.ts';

let place: DatabasePlace;
let machine: ServedMachine;
let environment: Environment;
let folder: string;

const cli = (...words: string[]) => call(environment, ...words);
const json = (...words: string[]) => callJson(environment, ...words);

beforeAll(async () => {
  place = await databasePlace();
  folder = place.settings.dataDir;
  machine = await serveMachine();
  environment = await environmentFor(place, {
    HOMEPORT_HOST: 'linux',
    HOMEPORT_HOST_RUN_FOLDER: machine.runFolder,
  });
  await cli('migrate');
});
afterAll(async () => {
  await machine?.close();
  await place?.remove();
});

/** Ends with 1 and says one line. */
async function refused(words: string[], line: string | RegExp): Promise<void> {
  const { code, stdout, stderr } = await cli(...words);
  expect(stderr).toMatch(line);
  expect({ code, stdout, lines: stderr.trimEnd().split('\n').length }).toEqual({
    code: 1,
    stdout: '',
    lines: 1,
  });
}

onlyInLong(test)('a server without a host says what to do', async () => {
  await refused(['host', 'remove', 'web2'], 'There is no host "web2"; "homeport host list" shows them all.');
  expect((await cli('host', 'list')).stdout).toMatch(/^There are no hosts yet\./);
  const nowhere = {
    ...environment,
    HOMEPORT_HOST_RUN_FOLDER: join(folder, 'run'),
    HOMEPORT_HOST_FOLDER: join(folder, 'host'),
    HOMEPORT_HOST_GROUP: 'no-such-group',
  };
  const { code, stderr } = await run(nowhere, 'serve');
  expect(code).toBe(1);
  // Root's server runs the host itself where no systemd does.
  const asRoot = process.getuid?.() === 0 && !existsSync('/run/systemd/system');
  expect(stderr).toMatch(
    asRoot
      ? /There is no group no-such-group: "homeport host setup" makes it[\s\S]*the host of this machine ended before it was ready/
      : /There is no host for the websites\. .*Start it there, as root, with "homeport host"/,
  );
  expect(existsSync(join(folder, 'host'))).toBe(false);
});

describe('homeport host', () => {
  test('adds a machine, writes its identity with mode 0600, and prints the next steps', async () => {
    const file = join(folder, 'web2.pem');
    const { code, stdout, stderr } = await cli('host', 'add', 'web2', 'https://10.0.0.2:8470', '--out', file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Its identity is in ${file}.`);
    expect(stdout).toContain('HOMEPORT_HOST_LISTEN=0.0.0.0:8470');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const identity = parseIdentity(readFileSync(file, 'utf8'));
    const listed = await json('host', 'list');
    expect(listed).toEqual([
      {
        id: identity.hostId,
        name: 'web2',
        address: 'https://10.0.0.2:8470',
        public_name: null,
        edge_addresses: [],
        labels: [],
        reserved: false,
        accepting: true,
        installs: 0,
        capacity: null,
        php_versions: [],
        wordpress_versions: [],
        machine: null,
        seen_at: null,
        reason: null,
        lost_at: null,
      },
    ]);
    expect((await cli('host', 'list')).stdout).toMatch(
      /web2 +https:\/\/10\.0\.0\.2:8470 +- +- +- +0 of \? +- +- +- +- +never +not seen yet/,
    );
  });

  test('leaves a file alone that is there, and none where nothing was added', async () => {
    const there = join(folder, 'there.pem');
    writeFileSync(there, 'mine');
    await refused(['host', 'add', 'web3', 'https://10.0.0.3:8470', '--out', there], /exists already/);
    expect(readFileSync(there, 'utf8')).toBe('mine');
    const none = join(folder, 'none.pem');
    await refused(
      ['host', 'add', 'web2', 'https://10.0.0.3:8470', '--out', none],
      /There is a host "web2" already/,
    );
    expect(existsSync(none)).toBe(false);
    expect(await json('host', 'list')).toHaveLength(1);
  });

  test('renews an identity', async () => {
    const file = join(folder, 'again.pem');
    expect((await cli('host', 'identity', 'web2', '--out', file)).stdout).toContain(file);
    expect(parseIdentity(readFileSync(file, 'utf8')).hostId).toBe(
      text(await json('host', 'list'), '0', 'id'),
    );
    await refused(
      ['host', 'identity', 'unknown', '--out', join(folder, 'x.pem')],
      'There is no host "unknown"',
    );
  });

  test('gives a machine up, rebuilds its installs and takes it back', async () => {
    await refused(['host', 'rebuild', 'web2'], 'Give it up first: "homeport host lost web2"');
    await refused(['host', 'lost', 'web2'], 'Without a terminal, add --yes.');
    await refused(['host', 'lost', 'web9', '--yes'], 'There is no host "web9"');
    expect((await cli('host', 'lost', 'web2', '--yes')).stdout).toContain(
      'web2 is given up, with 0 installs.',
    );
    expect((await cli('host', 'list')).stdout).toContain('given up as lost at');
    await refused(['host', 'rebuild', 'web2', '--to', 'web2'], 'The host "web2" was given up as lost.');
    expect((await cli('host', 'rebuild', 'web2')).stdout).toBe('No install of web2 was rebuilt.\n');
    expect(await json('host', 'rebuild', 'web2', '--report')).toEqual([]);
    expect((await cli('host', 'found', 'web2')).stdout).toContain('web2 is taken back.');
    await refused(['host', 'found', 'web2'], 'The host "web2" was not given up.');
  });

  test('changes by what name people reach a machine', async () => {
    const change = (...words: string[]) => cli('host', 'change', 'web2', ...words);
    expect((await change('--public-name', 'Web2.example.com')).stdout).toBe(
      'Users reach web2 at web2.example.com.\n',
    );
    await refused(
      ['host', 'change', 'web2'],
      'Name a change: --public-name, --edge-address, --label or --reserved, or one of them with "no".',
    );
    expect(field(await json('host', 'list'), '0', 'public_name')).toBe('web2.example.com');
    expect((await change('--no-public-name')).stdout).toBe('web2 has no public name.\n');
  });

  test('changes at which addresses visitors reach its websites', async () => {
    const change = (...words: string[]) => cli('host', 'change', 'web2', ...words);
    const addresses = ['--edge-address', '203.0.113.7', '--edge-address', '2001:DB8::7'];
    expect((await change(...addresses, '--public-name', 'web2.example.com')).stdout).toBe(
      'Users reach web2 at web2.example.com.\nVisitors reach the websites of web2 at 203.0.113.7 and 2001:db8::7.\n',
    );
    await refused(
      ['host', 'change', 'web2', '--edge-address', '203.0.113.9', '--no-edge-addresses'],
      'Use either --edge-address or --no-edge-addresses.',
    );
    expect((await cli('host', 'list')).stdout).toContain(' 203.0.113.7 2001:db8::7 ');
    expect((await change('--no-edge-addresses', '--no-public-name')).stdout).toBe(
      'web2 has no public name.\nweb2 has no edge addresses.\n',
    );
  });

  test('drains, accepts and removes', async () => {
    expect((await cli('host', 'drain', 'web2')).stdout).toBe('web2 takes no new installs.\n');
    expect(field(await json('host', 'list'), '0', 'accepting')).toBe(false);
    expect((await cli('host', 'accept', 'web2')).stdout).toBe('web2 takes new installs.\n');
    expect(field(await json('host', 'list'), '0', 'accepting')).toBe(true);
    expect((await cli('host', 'remove', 'web2')).stdout).toBe('Removed the host web2.\n');
    expect(await json('host', 'list')).toEqual([]);
  });
});

onlyInLong(test)('a server on a host prints where its websites are', async () => {
  const server = await serve(environment);
  expect(server.stdout()).toContain(`http://<name>.localhost:${machine.description.ports.http}/`);
  server.process.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
});

test('a server on a host serves, and installs are switched with it and without it', async () => {
  // The platform that the commands then work on, with an install on it.
  const start = () =>
    startTestHomeport({
      place,
      environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
    });
  const before = await start();
  const { accountId, owner } = await before.ownedAccount();
  const { id, name } = await before.install(owner, accountId);
  await before.remove();
  const [host] = [text(await json('host', 'list'), '0', 'name')];

  // Without a server the command does it itself.
  expect(await json('installs', 'core', name, '6.1.9')).toMatchObject({
    install_id: id,
    install_name: name,
    from: '6.8.7',
    to: '6.1.9',
  });
  expect(machine.versions.get(id)).toMatchObject({ wordpressVersion: '6.1.9' });

  const homeport = await start();
  const { code, stdout } = await cli('installs', 'core', name, '6.8.7');
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${name} runs on WordPress 6.8.7 (before: 6.1.9).\n` });

  const path = await cli('host', 'wordpress', host, '/root');
  expect(path).toMatchObject({ code: 1, stdout: '' });
  expect(path.stderr).toContain('set HOMEPORT_WORDPRESS_SOURCE on that machine');
  expect((await cli('host', 'wordpress', host, 'debian')).stdout).toBe(`${host} has WordPress 7.1.\n`);
  expect(await json('installs', 'core', name, '7.1')).toMatchObject({ from: '6.8.7', to: '7.1' });
  await refused(['installs', 'core', name, '5.0'], `has no WordPress 5.0; it has 7.1, 6.8.7, 6.1.9.`);
  await refused(['host', 'remove', host], /There is an install on the host/);
  await homeport.remove();

  const token = 'a'.repeat(43);
  const link = `http://${name}.localhost:${machine.description.ports.http}/.well-known/homeport-login?token=${token}`;
  const expiresAt = '2026-01-31T09:31:00.000Z';
  machine.machine.createLogin = async (_install, user) =>
    user === 'nobody'
      ? { refused: 'unknown_user', reason: 'WordPress has no user with the name "nobody".' }
      : { token, expiresAt, user: user ?? 'admin' };
  expect(await cli('install', 'login', name)).toEqual({
    code: 0,
    stdout: `${link}\n`,
    stderr: 'Signs in as admin, once, within 60 seconds:\n',
  });
  expect(await json('install', 'login', name, '--user', 'editor')).toEqual({
    url: link,
    user: 'editor',
    expires_at: expiresAt,
  });
  await refused(
    ['install', 'login', name, '--user', 'nobody'],
    'WordPress has no user with the name "nobody".',
  );
  await refused(['install', 'login', 'unknown'], 'There is no install "unknown"');

  const opening = { token: `1769851860.${token}`, expiresAt };
  machine.machine.createDatabaseLink = async () => opening;
  const url = `http://${name}.localhost:${machine.description.ports.http}/.well-known/homeport-database/?token=${opening.token}`;
  expect(await cli('install', 'database', name)).toEqual({
    code: 0,
    stdout: `${url}\n`,
    stderr: `Opens the database of ${name}, once, within 60 seconds:\n`,
  });
  expect(await json('install', 'database', name)).toEqual({ url, expires_at: expiresAt });
  await refused(['install', 'database', 'unknown'], 'There is no install "unknown"');

  await refused(['host', 'forget', host, id, '--yes'], `${name} is an install of this platform.`);
  // Ids may begin with a digit, and names may not.
  const strange = siteState('stray', ['stray.localhost'], { id: '1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11' });
  await machine.machine.apply(strange);
  expect(machine.versions.has(strange.id)).toBe(true);
  await refused(['host', 'forget', host, strange.id], 'Without a terminal, add --yes.');
  expect(await cli('host', 'forget', host, strange.id, '--yes')).toEqual({
    code: 0,
    stdout: `Deleted the install ${strange.id} from ${host}.\n`,
    stderr: '',
  });
  expect(machine.versions.has(strange.id)).toBe(false);

  await machine.down();
  await refused(['install', 'login', name], /nothing listens at .*Start it there, as root/);
  await refused(['host', 'wordpress', host], /nothing listens at .*Start it there, as root/);
  const waiting = begin(environment, 'installs', 'core', name, '6.1.9');
  await waiting.printed('does not answer');
  waiting.process.kill('SIGINT');
  expect((await waiting.ended).code).toBe(130);
  await machine.up();
});

test('the records of the installs’ names, a line each, as a zone file has them', async () => {
  const homeport = await startTestHomeport({
    place,
    environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
  });
  const { accountId, owner } = await homeport.ownedAccount();
  const first = await homeport.install(owner, accountId);
  const { hosts } = homeport.services;
  const [host] = await hosts.list();
  await hosts.change(host?.name ?? '', { edgeAddresses: ['203.0.113.7', '2001:db8::7'] });
  await hosts.add('empty', 'https://10.0.0.9:8470');
  await homeport.stop();

  const { code, stdout, stderr } = await cli('host', 'records', '--ttl', '60');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const name = `${first.name}.localhost`;
  expect(stdout).toContain(`${name}.\t60\tIN\tA\t203.0.113.7\n${name}.\t60\tIN\tAAAA\t2001:db8::7\n`);
  expect(stdout).toMatch(/^([^\t\n]+\.\t60\tIN\t(A|AAAA)\t[^\t\n]+\n)+$/);
  expect(await json('host', 'records', host?.name ?? '')).toContainEqual({
    name,
    ttl: 3600,
    type: 'A',
    address: '203.0.113.7',
    install_id: first.id,
    host: host?.name,
  });
  expect(await json('host', 'records', 'empty')).toEqual([]);
  await refused(['host', 'records', 'unknown'], 'There is no host "unknown"');
  expect((await cli('host', 'records', '--ttl', '2147483648')).stderr).toContain('from 0 to 2147483647');
});

test('labels of hosts, which accounts want, and the moves that would follow', async () => {
  const homeport = await startTestHomeport({
    place,
    environment: { HOMEPORT_HOST: 'linux', HOMEPORT_HOST_RUN_FOLDER: machine.runFolder },
  });
  const { accountId, owner } = await homeport.ownedAccount();
  const { name: install } = await homeport.install(owner, accountId);
  const [host] = await homeport.services.hosts.list();
  const name = host?.name ?? '';
  await homeport.stop();

  expect((await cli('host', 'change', name, '--label', 'ssd', '--label', 'acme', '--reserved')).stdout).toBe(
    `${name} has the labels acme, ssd.\n${name} takes new installs only of accounts that want its labels.\n`,
  );
  expect((await cli('host', 'list')).stdout).toContain('takes new installs of accounts with its labels');
  expect(await json('host', 'list')).toContainEqual(
    expect.objectContaining({ name, labels: ['acme', 'ssd'], reserved: true }),
  );
  await refused(['host', 'change', name, '--no-labels'], 'A reserved host without labels gets no installs.');
  await refused(
    ['host', 'change', name, '--label', 'x', '--no-labels'],
    'Use either --label or --no-labels.',
  );

  await refused(['host', 'rebalance'], 'It only shows moves. Add --dry-run');
  const stuck = { install, from: name, refusal: expect.stringContaining('No host') };
  const proposal = await json('host', 'rebalance', '--dry-run');
  expect(proposal).toMatchObject({ moves: [], stuck: expect.arrayContaining([stuck]) });
  const placement = (...more: string[]) => cli('account', 'placement', accountId, ...more);
  expect((await placement('--label', 'gpu')).stdout).toMatch(
    /hosts with the label gpu\.\nNo host has the label gpu yet\./,
  );
  expect((await cli('host', 'rebalance', '--dry-run')).stdout).toContain(
    `${install} cannot leave ${name}: No host`,
  );
  await placement('--label', 'ssd');
  expect((await placement()).stdout).toMatch(/^New installs of .* go to hosts with the label ssd\.\n$/);
  expect((await cli('host', 'rebalance', '--dry-run')).stdout).not.toContain(install);
  expect(await json('account', 'placement', accountId, '--no-labels')).toEqual({ labels: [] });
  await cli('host', 'change', name, '--no-labels', '--no-reserved');
});
