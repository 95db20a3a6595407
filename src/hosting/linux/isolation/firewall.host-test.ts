import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { createFirewall, type FirewallOptions } from './firewall.ts';

/**
 * Two network namespaces: `machine`, with the firewall, and `world`, which plays everything else. A server answers at every
 * address of both.
 */
const mark = randomBytes(3).toString('hex');
const machine = `hpt-m-${mark}`;
const world = `hpt-w-${mark}`;
const uids = { first: 391_300, last: 391_309 };
const within = ['/usr/sbin/ip', 'netns', 'exec', machine];

const OWN_PUBLIC = '8.9.9.1';
const OWN_PRIVATE = '10.9.0.1';
const PUBLIC = '8.9.9.2';
const PRIVATE = '10.9.0.2';
const METADATA = '169.254.169.254';
const PUBLIC_IPV6 = '2600:9::2';
const PRIVATE_IPV6 = 'fd00:9::2';
const RESOLVER = PRIVATE;

let folder: string;
const servers: ChildProcess[] = [];

const ip = (...args: string[]) => runCommand('/usr/sbin/ip', args);
const inside = (name: string, ...command: string[]) => ip('netns', 'exec', name, ...command);

beforeAll(async () => {
  folder = await mkdtemp('/run/hpt-firewall-');
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${RESOLVER}\n`);
  for (const name of [machine, world]) await ip('netns', 'add', name);
  await ip('link', 'add', 'wire', 'netns', machine, 'type', 'veth', 'peer', 'name', 'wire', 'netns', world);
  await connect(machine, [
    `${OWN_PUBLIC}/24`,
    `${OWN_PRIVATE}/24`,
    '169.254.1.1/16',
    '2600:9::1/64',
    'fd00:9::1/64',
  ]);
  await connect(world, [
    `${PUBLIC}/24`,
    `${PRIVATE}/24`,
    `${METADATA}/16`,
    `${PUBLIC_IPV6}/64`,
    `${PRIVATE_IPV6}/64`,
  ]);
  for (const name of [machine, world]) for (const port of [25, 53, 80, 5432]) await serve(name, port);
});
afterAll(async () => {
  for (const server of servers) {
    server.kill('SIGKILL');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  }
  for (const name of [machine, world]) await ip('netns', 'delete', name);
  await rm(folder, { recursive: true, force: true });
});

async function connect(name: string, addresses: string[]): Promise<void> {
  for (const address of addresses) {
    const early = address.includes(':') ? ['nodad'] : [];
    await ip('-netns', name, 'address', 'add', address, 'dev', 'wire', ...early);
  }
  for (const device of ['lo', 'wire']) await ip('-netns', name, 'link', 'set', device, 'up');
}

/** Accepts connections at every address of the namespace. */
async function serve(name: string, port: number, uid = 0): Promise<void> {
  const listen = `use Socket qw(:all); $| = 1; socket(my $s, AF_INET6, SOCK_STREAM, 0) or die $!;
    setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1); setsockopt($s, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    bind($s, pack_sockaddr_in6($ARGV[0], IN6ADDR_ANY)) or die $!; listen($s, 50) or die $!;
    print "ready\\n"; while (accept(my $c, $s)) { close $c }`;
  const user = ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const args = ['netns', 'exec', name, ...user, '/usr/bin/perl', '-e', listen, `${port}`];
  const server = spawn('/usr/sbin/ip', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(server);
  await once(server.stdout, 'data');
}

/** Result of a connection by a process with this user id on the machine: `connected`, or the system's error message. */
async function attempt(address: string, port: number, uid = uids.first, seconds = 5): Promise<string> {
  const open = `use IO::Socket::IP; my $s = IO::Socket::IP->new(PeerHost => $ARGV[0], PeerPort => $ARGV[1], Timeout => $ARGV[2]);
    print $s ? "connected" : $!`;
  const user = ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const { stdout } = await inside(
    machine,
    ...user,
    '/usr/bin/perl',
    '-e',
    open,
    address,
    `${port}`,
    `${seconds}`,
  );
  return stdout;
}

function firewall(change: Partial<FirewallOptions> = {}) {
  return createFirewall({
    instance: 'hpt',
    uids,
    edgePorts: [80],
    allowed: [],
    resolvConf: join(folder, 'resolv.conf'),
    within,
    ...change,
  });
}

describe('the firewall', () => {
  beforeEach(() => firewall().remove());

  it('is the only barrier: without it, everything can be reached', async () => {
    for (const address of ['127.0.0.1', PUBLIC, PRIVATE, METADATA, PUBLIC_IPV6, PRIVATE_IPV6]) {
      expect(await attempt(address, 5432), address).toBe('connected');
    }
  });

  it('keeps an install from sending mail directly', async () => {
    await firewall().ensure();
    for (const address of [PUBLIC, PUBLIC_IPV6, '127.0.0.1']) {
      expect(await attempt(address, 25), address).not.toBe('connected');
    }
    expect(await attempt(PUBLIC, 25, 0)).toBe('connected');
  });

  it('lets an install reach the public Internet, at any other port', async () => {
    await firewall().ensure();
    expect(await attempt(PUBLIC, 5432)).toBe('connected');
    expect(await attempt(PUBLIC_IPV6, 5432)).toBe('connected');
  });

  it('refuses the machine and private networks immediately', async () => {
    await firewall().ensure();
    const refused = {
      'the machine by loopback': '127.0.0.1',
      'all of loopback': '127.9.9.9',
      'the machine by the unspecified address': '0.0.0.0',
      'the machine by IPv6': '::1',
      'the machine by an IPv4-mapped IPv6 address': '::ffff:127.0.0.1',
      'a public address of the machine': OWN_PUBLIC,
      'a private address of the machine': OWN_PRIVATE,
      'a private network': PRIVATE,
      'a cloud metadata service': METADATA,
      'a private network by IPv6': PRIVATE_IPV6,
    };
    for (const [what, address] of Object.entries(refused)) {
      expect(await attempt(address, 5432), what).toMatch(/refused|No route|Permission denied|unreachable/i);
    }
  });

  it('lets an install request websites of the machine, at any of its addresses', async () => {
    await firewall().ensure();
    for (const address of ['127.0.0.1', OWN_PUBLIC, OWN_PRIVATE, '::1']) {
      expect(await attempt(address, 80), address).toBe('connected');
    }
    expect(await attempt(PRIVATE, 80)).not.toBe('connected');
  });

  it('allows the machine’s DNS server, and nothing else there', async () => {
    await firewall().ensure();
    expect(await attempt(RESOLVER, 53)).toBe('connected');
    expect(await attempt('127.0.0.1', 53)).not.toBe('connected');
  });

  it('applies to datagrams too', async () => {
    await firewall().ensure();
    const listen = `use IO::Socket::IP; $| = 1; print "ready\\n";
      my $s = IO::Socket::IP->new(LocalHost => '127.0.0.1', LocalPort => 5353, Type => SOCK_DGRAM) or die $!;
      while ($s->recv(my $text, 100)) { print $text }`;
    const args = ['netns', 'exec', machine, '/usr/bin/perl', '-e', listen];
    const server = spawn('/usr/sbin/ip', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    servers.push(server);
    let received = '';
    server.stdout.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    await expect.poll(() => received).toContain('ready');
    const send = `use IO::Socket::IP;
      my $s = IO::Socket::IP->new(PeerHost => '127.0.0.1', PeerPort => 5353, Type => SOCK_DGRAM) or die $!;
      for (1..50) { $s->send($ARGV[0]); select undef, undef, undef, 0.01 }`;
    for (const uid of [uids.first, 0]) {
      const user = ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
      await inside(machine, ...user, '/usr/bin/perl', '-e', send, `from ${uid}`);
    }
    await expect.poll(() => received).toContain('from 0');
    expect(received).not.toContain(`from ${uids.first}`);
  });

  it('applies only to installs', async () => {
    await firewall().ensure();
    for (const uid of [0, uids.first - 1, uids.last + 1]) {
      expect(await attempt('127.0.0.1', 5432, uid)).toBe('connected');
    }
    expect(await attempt('127.0.0.1', 5432, uids.last)).not.toBe('connected');
  });

  it('allows what the operator allows; a range does not include the machine itself', async () => {
    const ranges = ['10.9.0.0/24', '10.9.0.0/16', '10.9.0.0/24'].map((range) => ipaddr.parseCIDR(range));
    await firewall({ allowed: ranges }).ensure();
    expect(await attempt(PRIVATE, 5432)).toBe('connected');
    expect(await attempt(OWN_PRIVATE, 5432)).not.toBe('connected');
    expect(await attempt(METADATA, 5432)).not.toBe('connected');
    await firewall({ allowed: [ipaddr.parseCIDR(`${OWN_PRIVATE}/32`)] }).ensure();
    expect(await attempt(OWN_PRIVATE, 5432)).toBe('connected');
    expect(await attempt(PRIVATE, 5432)).not.toBe('connected');
  });

  it('keeps others from connecting to a listener of an install', async () => {
    await serve(machine, 8080, uids.first);
    expect(await attempt('127.0.0.1', 8080, 0)).toBe('connected');
    await firewall().ensure();
    expect(await attempt('127.0.0.1', 8080, 0, 1)).not.toBe('connected');
  });

  it('reports what is wrong, and repairs it', async () => {
    expect(await firewall().check()).toContain('is missing');
    await firewall().ensure();
    expect(await firewall().check()).toBeNull();
    await firewall().ensure();
    expect(await firewall({ edgePorts: [81] }).check()).toContain('has the wrong rules');
    await inside(machine, '/usr/sbin/nft', 'flush', 'chain', 'inet', 'homeport_hpt', 'installs');
    expect(await firewall().check()).toContain('has the wrong rules');
    expect(await attempt('127.0.0.1', 5432)).toBe('connected');
    await firewall().ensure();
    expect(await firewall().check()).toBeNull();
    expect(await attempt('127.0.0.1', 5432)).not.toBe('connected');
  });

  it('follows changes of the machine’s DNS servers', async () => {
    await firewall().ensure();
    const other = join(folder, 'other.conf');
    await writeFile(other, 'nameserver 127.0.0.1\n');
    const moved = firewall({ resolvConf: other });
    expect(await moved.check()).not.toBeNull();
    await moved.ensure();
    expect(await attempt('127.0.0.1', 53)).toBe('connected');
    expect(await attempt(RESOLVER, 53)).not.toBe('connected');
  });

  it('leaves the tables of others alone, and removes its own completely', async () => {
    await firewall({ instance: 'hpt2' }).ensure();
    await firewall().ensure();
    await firewall().remove();
    await firewall().remove();
    expect(await firewall().check()).not.toBeNull();
    expect(await firewall({ instance: 'hpt2' }).check()).toBeNull();
    await firewall({ instance: 'hpt2' }).remove();
    expect((await inside(machine, '/usr/sbin/nft', 'list', 'ruleset')).stdout).toBe('');
  });
});
