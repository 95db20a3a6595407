import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { operatorFor } from '../src/access/caller.ts';
import { type RunningHomeport, startHomeport } from '../src/app/homeport.ts';
import { readConfig } from '../src/config/config.ts';
import { type AcmeServer, startAcmeServer } from '../test/servers/acme-server.ts';
import { type DnsTestServers, startDnsServers } from '../test/servers/dns-server.ts';
import { freePort } from '../test/servers/free-port.ts';
import { makeOwner } from './measure/owner.ts';
import { temporaryFolder } from './measure/processes.ts';
import { createReport } from './measure/report.ts';
import { median, shownMs } from './measure/units.ts';

/**
 * `node bench/domains.ts`: the time of a status report from the request to `complete`, alone and fifty at once. Also the time from adding
 * a domain until the edge serves its certificate. Uses a real name server, resolver and authority, which share this machine's
 * processors. Needs Debian's knot, unbound and pebble.
 */
const AT_ONCE = 50;
const ALONE = 15;
const CERTIFICATES = 10;
const POLL_MS = 5;
const PATIENCE_MS = 60_000;
const HERE = '@ A 127.0.0.1\n* A 127.0.0.1\n';
const PRIVATE = '127.0.0.1:0';

interface Person {
  userId: string;
}

interface Named {
  installId: string;
  domainId: string;
}

const results = createReport('domains');
results.part('Status reports and certificates');

function report(what: string, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (fraction: number) =>
    shownMs(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0);
  results.figure({
    what,
    value: median(sorted),
    unit: 'ms',
    measured: `95 % within ${at(0.95)}, all ${sorted.length} within ${at(1)}`,
  });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('it took longer than a minute');
    await sleep(POLL_MS);
  }
}

async function start(
  dataDir: string,
  dns: DnsTestServers,
  acme: { server: AcmeServer; edgePort: number } | null,
): Promise<RunningHomeport> {
  const ca = join(dataDir, 'roots.pem');
  if (acme !== null) writeFileSync(ca, `${acme.server.ca}\n${await acme.server.root()}`);
  const config = readConfig({
    HOMEPORT_DATA_DIR: join(dataDir, acme === null ? 'reports' : 'certificates'),
    HOMEPORT_LISTEN: PRIVATE,
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${acme?.edgePort ?? 0}`,
    HOMEPORT_EDGE_HTTPS: PRIVATE,
    HOMEPORT_SSH_LISTEN: PRIVATE,
    HOMEPORT_EMBEDDED_PHP_MB: '0',
    HOMEPORT_SITE_DOMAIN: 'sites.example',
    HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
    HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    ...(acme === null ? {} : { HOMEPORT_ACME_DIRECTORY: acme.server.directoryUrl, HOMEPORT_ACME_CA: ca }),
  });
  const log = pino({ level: 'silent' });
  return startHomeport(config, { log, dnsPort: dns.authority.port }, { api: true, hosting: true });
}

async function makeDomain(
  { services }: RunningHomeport,
  owner: Person & { accountId: string },
  name: string,
): Promise<Named> {
  const install = await services.installs.create(operatorFor(owner.userId), {
    name: `bench-${name.split('.')[0]}`,
    account_id: owner.accountId,
  });
  const domain = await services.domains.create(operatorFor(owner.userId), install.id, { name });
  return { installId: install.id, domainId: domain.id };
}

/** Milliseconds from the request for a report until it is complete. */
async function timeReport({ services }: RunningHomeport, owner: Person, of: Named): Promise<number> {
  const began = performance.now();
  const caller = operatorFor(owner.userId);
  const { reportId } = await services.domainReports.request(caller, of.installId, of.domainId);
  await until(async () => (await services.domainReports.get(caller, of.installId, reportId)).complete);
  return performance.now() - began;
}

async function reports(folder: string, dns: DnsTestServers): Promise<void> {
  const homeport = await start(folder, dns, null);
  try {
    const owner = await makeOwner(homeport);
    const domains: Named[] = [];
    for (let n = 0; n < AT_ONCE; n++) {
      domains.push(await makeDomain(homeport, owner, `report${n}.here.example`));
    }
    await homeport.idle();
    const alone: number[] = [];
    for (const domain of domains.slice(0, ALONE)) alone.push(await timeReport(homeport, owner, domain));
    report('check_status to complete, alone', alone);
    await sleep(5_000);
    report(
      `check_status to complete, ${AT_ONCE} at once`,
      await Promise.all(domains.map((domain) => timeReport(homeport, owner, domain))),
    );
  } finally {
    await homeport.stop();
  }
}

async function certificates(folder: string, dns: DnsTestServers): Promise<void> {
  const edgePort = await freePort();
  const server = await startAcmeServer({ dnsServer: dns.resolver, httpPort: edgePort });
  try {
    const homeport = await start(folder, dns, { server, edgePort });
    try {
      const owner = await makeOwner(homeport);
      const { installId } = await makeDomain(homeport, owner, 'first.here.example');
      await homeport.idle();
      const times: number[] = [];
      for (let n = 0; n < CERTIFICATES; n++) {
        const began = performance.now();
        const added = await homeport.services.domains.create(operatorFor(owner.userId), installId, {
          name: `certificate${n}.here.example`,
        });
        await until(async () => {
          const { ssl_status } = await homeport.services.domains.get(
            operatorFor(owner.userId),
            installId,
            added.id,
          );
          return ssl_status === 'active';
        });
        times.push(performance.now() - began);
      }
      report('domain added to certificate served', times);
    } finally {
      await homeport.stop();
    }
  } finally {
    await server.remove();
  }
}

const folder = temporaryFolder();
const dns = await startDnsServers({ zones: { 'sites.example': HERE, 'here.example': HERE } });
try {
  process.stderr.write('status reports …\n');
  await reports(folder.path, dns);
  process.stderr.write('certificates …\n');
  await certificates(folder.path, dns);
} finally {
  await dns.remove();
  folder.remove();
}
results.end();
results.finish();
