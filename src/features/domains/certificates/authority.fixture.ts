import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { type AcmeServer, hasPebble, startAcmeServer } from '../../../../test/servers/acme-server.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../../../../test/servers/dns-server.ts';
import { freePort } from '../../../../test/servers/free-port.ts';

/** The content of a zone whose names lead to the edge. */
export const HERE = '@ A 127.0.0.1\n* A 127.0.0.1\n';

const lacksPrograms = !findDnsServers() || !hasPebble();

/** `describe` and `it` of tests that order certificates: skipped without the programs that test/missing-programs.ts names. */
export const ordering = { describe: describe.skipIf(lacksPrograms), it: it.skipIf(lacksPrograms) };

/** A server that orders certificates from a test authority, with an account and its owner. */
export interface OrderingHomeport {
  dns: DnsTestServers;
  acme: AcmeServer;
  clock: ManualClock;
  homeport: TestHomeport;
  accountId: string;
  owner: Person;
  remove(): Promise<void>;
}

/** Starts name servers, an authority and a server. The names of `sites.example` and `here.example` lead to its edge. */
export async function startOrderingHomeport(
  environment: Record<string, string> = {},
): Promise<OrderingHomeport> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-authority-'));
  const dns = await startDnsServers({ zones: { 'sites.example': HERE, 'here.example': HERE } });
  const edgePort = await freePort();
  const acme = await startAcmeServer({ dnsServer: dns.resolver, httpPort: edgePort });
  const ca = join(folder, 'roots.pem');
  writeFileSync(ca, `${acme.ca}\n${await acme.root()}`);
  const clock = manualClock(new Date());
  const homeport = await startTestHomeport({
    clock,
    dnsPort: dns.authority.port,
    environment: {
      HOMEPORT_SITE_DOMAIN: 'sites.example',
      HOMEPORT_EDGE_HTTP: `127.0.0.1:${edgePort}`,
      HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
      HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      HOMEPORT_ACME_DIRECTORY: acme.directoryUrl,
      HOMEPORT_ACME_CA: ca,
      ...environment,
    },
  });
  return {
    dns,
    acme,
    clock,
    homeport,
    ...(await homeport.ownedAccount()),
    async remove() {
      await homeport.remove();
      await acme.remove();
      await dns.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
