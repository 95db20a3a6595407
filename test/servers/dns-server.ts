import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { askServer, type DnsServer } from '../../src/network/dns/client.ts';
import { freePort } from './free-port.ts';

/** An authoritative server and a resolver for tests, on 127.0.0.1, deleted afterwards. */
export interface DnsTestServers {
  /** knotd, which serves the zones. */
  authority: DnsServer;
  /** unbound, which forwards everything to the authoritative server and caches by TTL. */
  resolver: DnsServer;
  /**
   * Writes or replaces a zone, from the text of a zone file. A SOA, and an NS (`ns1.<zone>` at 127.0.0.1), are added to
   * the apex `@` if missing; TTLs are 300 s. Active when it resolves. The resolver's cache is flushed unless `keepCache`. Throws if the text
   * is invalid.
   */
  setZone(zone: string, records: string, options?: { keepCache?: boolean }): Promise<void>;
  removeZone(zone: string): Promise<void>;
  /** Ends both servers and removes their files. */
  remove(): Promise<void>;
}

const KNOTD = '/usr/sbin/knotd';
const KNOTC = '/usr/sbin/knotc';
const UNBOUND = '/usr/sbin/unbound';

const HOST = '127.0.0.1';
const PATIENCE_MS = 30_000;

/** Whether this machine has the programs for `startDnsServers` (Debian: knot, unbound). */
export function findDnsServers(): boolean {
  return [KNOTD, KNOTC, UNBOUND].every((program) => existsSync(program));
}

export async function startDnsServers(
  options: { zones?: Record<string, string> } = {},
): Promise<DnsTestServers> {
  if (!findDnsServers()) throw new Error('The DNS tests need the Debian packages knot and unbound.');
  const folder = mkdtempSync(join(tmpdir(), 'homeport-dns-'));
  const authority = { host: HOST, port: await freePort(isUdpFree) };
  const resolver = { host: HOST, port: await freePort(isUdpFree) };
  // The root zone too, so that no query leaves this machine.
  const zones = new Set<string>();
  let serial = 1;

  function writeZone(zone: string, records: string): void {
    writeFileSync(zoneFile(folder, zone), zoneText(zone, records, serial++));
  }

  for (const [zone, records] of Object.entries({ '.': '', ...options.zones })) {
    zones.add(zone);
    writeZone(zone, records);
  }
  const knotConfig = join(folder, 'knot.conf');
  const unboundConfig = join(folder, 'unbound.conf');
  writeFileSync(knotConfig, knotSettings(folder, authority.port, [...zones]));
  writeFileSync(unboundConfig, unboundSettings(folder, resolver.port, authority.port));

  const knot = startServer(KNOTD, ['-c', knotConfig], join(folder, 'knot.log'));
  const unbound = startServer(UNBOUND, ['-d', '-c', unboundConfig], join(folder, 'unbound.log'));

  /** knotc reports only the failure; the reason is in knotd's log. */
  const knotc = (...args: string[]) =>
    run(KNOTC, ['-s', join(folder, 'knot.sock'), ...args]).catch((cause: unknown) => {
      throw new Error(`${cause}\n${knot.log()}`, { cause });
    });
  /** As unbound-control(8) does on a socket without certificates. Starting it would take longer than the whole change of a zone. */
  async function forget(): Promise<void> {
    const socket = connect(join(folder, 'unbound.sock'));
    await once(socket, 'connect');
    socket.end('UBCT1 flush_zone .\n');
    const answer = await text(socket);
    if (!answer.startsWith('ok')) throw new Error(`unbound keeps its cache: ${answer}`);
  }

  async function remove(): Promise<void> {
    await Promise.all([knot.end(), unbound.end()]);
    rmSync(folder, { recursive: true, force: true });
  }

  async function reconfigure(): Promise<void> {
    writeFileSync(knotConfig, knotSettings(folder, authority.port, [...zones]));
    await knotc('reload');
  }

  const untilServed = (zone: string, isServed: boolean) =>
    until(`zone ${zone}`, [knot, unbound], async () => (await serves(authority, zone)) === isServed);

  try {
    for (const zone of zones) await untilServed(zone, true);
    await until('unbound', [knot, unbound], () => serves(resolver, '.'));
  } catch (error) {
    await remove();
    throw error;
  }

  return {
    authority,
    resolver,
    async setZone(zone, records, { keepCache = false } = {}) {
      writeZone(zone, records);
      if (zones.has(zone)) await knotc('-b', 'zone-reload', fqdn(zone));
      else {
        zones.add(zone);
        await reconfigure();
        await untilServed(zone, true);
      }
      if (!keepCache) await forget();
    },
    async removeZone(zone) {
      zones.delete(zone);
      await reconfigure();
      await untilServed(zone, false);
      await forget();
    },
    remove,
  };
}

function fqdn(zone: string): string {
  return zone.endsWith('.') ? zone : `${zone}.`;
}

function zoneFile(folder: string, zone: string): string {
  return join(folder, `${zone === '.' ? 'root' : zone}.zone`);
}

function zoneText(zone: string, records: string, serial: number): string {
  const origin = fqdn(zone);
  const below = origin === '.' ? '' : origin;
  const lines = [`$ORIGIN ${origin}`, '$TTL 300'];
  if (!/^\S+.*\sSOA\s/m.test(records)) {
    lines.push(`@ SOA ns1.${below} hostmaster.${below} ${serial} 3600 600 86400 60`);
  }
  if (!/^@\s.*\bNS\s/m.test(records)) lines.push(`@ NS ns1.${below}`, `ns1.${below} A ${HOST}`);
  return [...lines, records, ''].join('\n');
}

function knotSettings(folder: string, port: number, zones: string[]): string {
  return [
    'server:',
    `    rundir: "${folder}"`,
    `    listen: ${HOST}@${port}`,
    '    udp-workers: 1',
    '    tcp-workers: 1',
    '    background-workers: 1',
    'control:',
    `    listen: "${folder}/knot.sock"`,
    'database:',
    `    storage: "${folder}/knot-db"`,
    '    journal-db-max-size: 1M',
    'log:',
    '  - target: stderr',
    '    any: info',
    'template:',
    '  - id: default',
    `    storage: "${folder}"`,
    '    zonefile-sync: -1',
    '    zonefile-load: whole',
    '    journal-content: none',
    'zone:',
    ...zones.flatMap((zone) => [
      `  - domain: "${fqdn(zone)}"`,
      `    file: "${zone === '.' ? 'root' : zone}.zone"`,
    ]),
    '',
  ].join('\n');
}

function unboundSettings(folder: string, port: number, authorityPort: number): string {
  return `server:
  interface: ${HOST}
  port: ${port}
  access-control: 127.0.0.0/8 allow
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  logfile: ""
  num-threads: 1
  so-reuseport: no
  do-ip6: no
  do-not-query-localhost: no
  module-config: "iterator"
  qname-minimisation: no
  unblock-lan-zones: yes
  insecure-lan-zones: yes
  local-zone: "test." nodefault
  local-zone: "invalid." nodefault
  outgoing-range: 256
  num-queries-per-thread: 128
  msg-cache-size: 1m
  rrset-cache-size: 1m
  infra-host-ttl: 0
remote-control:
  control-enable: yes
  control-interface: "${folder}/unbound.sock"
  control-use-cert: no
# Not a stub zone: the name servers that it learnt from a zone would then be asked, at port 53.
forward-zone:
  name: "."
  forward-addr: ${HOST}@${authorityPort}
`;
}

interface RunningServer {
  hasEnded(): boolean;
  log(): string;
  end(): Promise<void>;
}

function startServer(program: string, args: string[], logFile: string): RunningServer {
  const log = openSync(logFile, 'a');
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  return {
    hasEnded,
    log: () => `${program}:\n${readFileSync(logFile, 'utf8')}`,
    async end() {
      if (hasEnded()) return;
      child.kill('SIGTERM');
      // The temporary folder is deleted, so short timeouts suffice.
      const kill = setTimeout(() => child.kill('SIGKILL'), 2000);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** Waits for a condition; fails with the servers' logs when they end before it holds, or after ten seconds. */
async function until(what: string, servers: RunningServer[], holds: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await holds())) {
    const isLate = performance.now() - start > PATIENCE_MS;
    if (isLate || servers.some((server) => server.hasEnded())) {
      const logs = servers.map((server) => server.log()).join('\n');
      throw new Error(`${what} is not served.\n${logs}`);
    }
    await sleep(10);
  }
}

async function serves(server: DnsServer, zone: string): Promise<boolean> {
  // The SOA of the root comes with the answer that a name is not there.
  const name = zone === '.' ? 'no-such-name' : zone;
  const limit = { signal: AbortSignal.timeout(1000), attemptMs: 250 };
  try {
    const answer = await askServer(server, { name, type: 'SOA', recursive: true }, limit);
    const owner = zone === '.' ? '' : zone;
    return [...answer.answers, ...answer.authorities].some(
      ({ type, hdr }) => type === 'SOA' && hdr.name === owner,
    );
  } catch {
    // Not listening yet.
    return false;
  }
}

function run(program: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ${args.join(' ')} failed: ${output}`));
    });
  });
}

function isUdpFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createSocket('udp4');
    probe.once('error', () => resolve(false));
    probe.bind(port, HOST, () => probe.close(() => resolve(true)));
  });
}
