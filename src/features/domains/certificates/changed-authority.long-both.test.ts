import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DatabasePlace, migratedPlace } from '../../../../test/database.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { type DnsTestServers, startDnsServers } from '../../../../test/servers/dns-server.ts';
import { freePort } from '../../../../test/servers/free-port.ts';
import { checkDomainCertificates } from '../../../cli/doctor/domain-certificates.ts';
import { HERE } from './authority.fixture.ts';
import { obtainCertificate, orderCertificates } from './jobs.ts';

let place: DatabasePlace;
let dns: DnsTestServers;
let clock: ManualClock;
let edgePort: number;
let authority: string;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;

beforeEach(async () => {
  place = await migratedPlace();
  dns = await startDnsServers({ zones: { 'sites.example': HERE } });
  clock = manualClock(new Date());
  edgePort = await freePort();
  // Nothing listens there.
  authority = `https://127.0.0.1:${await freePort()}/directory`;
  await start({ HOMEPORT_ACME_DIRECTORY: authority });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterEach(async () => {
  await homeport?.remove();
  await place.remove();
  await dns.remove();
});

async function start(environment: Record<string, string>): Promise<void> {
  homeport = await startTestHomeport({
    place,
    clock,
    dnsPort: dns.authority.port,
    environment: {
      HOMEPORT_SITE_DOMAIN: 'sites.example',
      HOMEPORT_EDGE_HTTP: `127.0.0.1:${edgePort}`,
      HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
      HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      ...environment,
    },
  });
}

async function restart(environment: Record<string, string>): Promise<void> {
  await homeport.remove();
  await start(environment);
  await homeport.idle();
}

const domains = () =>
  homeport.platform.database.reader
    .selectFrom('domains as domain')
    .leftJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
    .select(['domain.id', 'domain.name', 'domain.install_id', 'ssl_status', 'ssl_reason', 'reached'])
    .select(['attempt.failures', 'attempt.next_at', 'attempt.held_until'])
    .orderBy('domain.seq')
    .execute();

async function reasons(): Promise<unknown[]> {
  const { results } = await homeport.services.overview.attention(caller(), accountId, {
    limit: 100,
    offset: 0,
  });
  return results.flatMap((found) => found.reasons.map(({ kind }) => kind));
}

const caller = () => ({
  userId: owner.userId,
  limits: null,
  origin: { means: 'portal' as const, credentialId: null, address: '203.0.113.7', requestId: 'test' },
});

describe('when the certificate authority is removed from the settings', () => {
  onlyInLong(it)('forgets the orders that it failed, everywhere', async () => {
    for (let at = 0; at < 3; at++) await homeport.install(owner, accountId);
    await homeport.idle();
    expect(await domains()).toMatchObject([1, 2, 3].map(() => ({ ssl_status: 'failed', failures: 1 })));
    expect((await domains())[0]?.ssl_reason).toMatch(/authority/);
    expect(await reasons()).toEqual(['certificate_missing', 'certificate_missing', 'certificate_missing']);

    await restart({});
    expect(await domains()).toMatchObject(
      [1, 2, 3].map(() => ({ ssl_status: 'active', ssl_reason: null, failures: null })),
    );
    expect(await reasons()).toEqual([]);
    const found = await checkDomainCertificates(homeport.platform.database, { acmeDirectory: null }, clock);
    expect(found).toMatchObject([{ state: 'ok' }]);
  });

  it('ends orders that were queued, so that they block no lane', async () => {
    await homeport.platform.database.write(async (transaction) => {
      const { queue } = homeport.platform;
      const lane = 'maintenance';
      await queue.enqueue(transaction, orderCertificates, { payload: {}, lane, delayMs: 1_000 });
      const payload = { domain_id: crypto.randomUUID(), order_id: crypto.randomUUID() };
      await queue.enqueue(transaction, obtainCertificate, { payload, lane, delayMs: 1_000 });
    });
    await restart({});
    clock.advance(1_000);
    await homeport.idle();
    const kinds = [orderCertificates.name, obtainCertificate.name];
    const jobs = await homeport.platform.database.reader
      .selectFrom('jobs')
      .select(['kind', 'state'])
      .where('kind', 'in', kinds)
      .orderBy('seq')
      .execute();
    expect(jobs).toEqual(kinds.map((kind) => ({ kind, state: 'succeeded' })));
  });
});

describe('when a setting changes that checks depend on', () => {
  it('orders again at once, but not before the authority allows it', async () => {
    await homeport.install(owner, accountId);
    await homeport.install(owner, accountId);
    await homeport.idle();
    const held = new Date(clock.now().getTime() + 3_600_000).toISOString();
    const [first] = await domains();
    await homeport.platform.database.write(({ queries }) =>
      queries
        .updateTable('certificate_attempts')
        .set({ held_until: held })
        .where('domain_id', '=', first?.id ?? '')
        .execute(),
    );
    clock.advance(60_000);
    await restart({ HOMEPORT_ACME_DIRECTORY: authority, HOMEPORT_ACME_CONTACT: 'a@operator.example' });
    expect(await domains()).toMatchObject([
      { ssl_status: 'pending', ssl_reason: null, failures: 0, next_at: held },
      { ssl_status: 'pending', ssl_reason: null, failures: 0, next_at: clock.now().toISOString() },
    ]);
    // Nothing is forgotten by a start with the same settings.
    await homeport.platform.database.write((transaction) =>
      homeport.platform.queue.enqueue(transaction, orderCertificates, { payload: {}, lane: null }),
    );
    await homeport.idle();
    const failed = [{ ssl_status: 'pending' }, { ssl_status: 'failed', failures: 1 }];
    expect(await domains()).toMatchObject(failed);
    await restart({ HOMEPORT_ACME_DIRECTORY: authority, HOMEPORT_ACME_CONTACT: 'a@operator.example' });
    expect(await domains()).toMatchObject(failed);
    await restart({
      HOMEPORT_ACME_DIRECTORY: authority,
      HOMEPORT_ACME_CONTACT: 'a@operator.example',
      HTTPS_PROXY: 'http://127.0.0.1:9',
    });
    expect(await domains()).toMatchObject([
      { ssl_status: 'pending' },
      { ssl_status: 'pending', failures: 0 },
    ]);
  });
});
