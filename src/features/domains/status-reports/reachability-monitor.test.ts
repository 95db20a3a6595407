import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../../../../test/servers/dns-server.ts';
import { maintenance } from '../../../app/maintenance.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { checkDomain, monitorReachability } from './jobs.ts';
import { checksPerMinute, reachabilitySchedule } from './reachability-monitor.ts';

const HERE = '@ A 127.0.0.1\nwww A 127.0.0.1';
/** Configured as this platform's address, but closed. */
const SILENT = '127.0.0.8';
/** Closed, too, and not configured as this platform's address. */
const ELSEWHERE = '@ A 127.0.0.9\nwww A 127.0.0.9';

it.each([
  [0, 2],
  [900, 2],
  [4_000, 9],
  [100_000, 60],
])('with %i served domains, %i are checked in a minute', (served, looks) => {
  expect(checksPerMinute(served)).toBe(looks);
});

describe.skipIf(!findDnsServers())('the reachability monitor', () => {
  let dns: DnsTestServers;
  let clock: ManualClock;
  let homeport: TestHomeport;
  let accountId: string;
  let owner: Person;
  let install: { id: string; name: string };

  beforeAll(async () => {
    clock = manualClock(new Date());
    dns = await startDnsServers({ zones: { 'sites.example': '* A 127.0.0.1' } });
    homeport = await startTestHomeport({
      clock,
      dnsPort: dns.authority.port,
      environment: {
        HOMEPORT_SITE_DOMAIN: 'sites.example',
        HOMEPORT_EDGE_ADDRESSES: `127.0.0.1,${SILENT}`,
        HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
        HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      },
    });
  });
  beforeEach(async () => {
    ({ accountId, owner } = await homeport.ownedAccount());
    install = await homeport.install(owner, accountId);
  });
  afterEach(async () => {
    await homeport.platform.database.write(({ queries }) => queries.deleteFrom('installs').execute());
  });
  afterAll(async () => {
    await homeport?.remove();
    await dns?.remove();
  });

  async function added(name: string, to = install): Promise<string> {
    const answer = await owner.client.post(`/installs/${to.id}/domains`, { name });
    expect(answer.status).toBe(201);
    await homeport.idle();
    return text(answer.body, 'id');
  }

  /** Runs the jobs of one minute. */
  async function minute(): Promise<void> {
    const { platform } = homeport;
    await platform.database.write((transaction) =>
      reachabilitySchedule(platform).enqueue(transaction, platform.queue),
    );
    await homeport.idle();
  }

  /** Runs until no check is due. */
  async function looks(): Promise<void> {
    for (let before = -1; before !== (await looked()).length; ) {
      before = (await looked()).length;
      await minute();
    }
  }

  const looked = async () =>
    (
      await homeport.platform.database.reader
        .selectFrom('domain_looks as look')
        .innerJoin('domains as domain', 'domain.id', 'look.domain_id')
        .select('domain.name')
        .where('looked_at', '=', timestamp(clock))
        .orderBy('domain.name')
        .execute()
    ).map(({ name }) => name);

  const row = (name: string) =>
    homeport.platform.database.reader
      .selectFrom('domains')
      .select(['reached', 'checked_at'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow();

  /** The result of every report, oldest first. */
  async function reports(): Promise<unknown[]> {
    const rows = await homeport.platform.database.reader
      .selectFrom('domain_reports')
      .select(['report', 'complete'])
      .orderBy('seq')
      .execute();
    expect(rows.every(({ complete }) => complete)).toBe(true);
    return rows.map(({ report }) => field(report, 'domains', 0, 'result'));
  }

  async function attention(): Promise<unknown> {
    const answer = await (await signedIn(homeport, owner)).get(`/accounts/${accountId}/attention`);
    return field(answer.body, 'results');
  }

  it('checks once a day, and creates a report only if reachability changed', async () => {
    await dns.setZone('shop.example', HERE);
    await added('shop.example');
    clock.advance(DAY_MS - 1);
    await looks();
    expect(await looked()).toEqual([]);

    clock.advance(1);
    await looks();
    expect(await looked()).toEqual(['shop.example', `${install.name}.sites.example`]);
    const first = await reports();
    expect(first).toHaveLength(2);
    expect(first).toContainEqual(expect.stringContaining('shop.example answers here'));
    expect(await row('shop.example')).toEqual({ reached: true, checked_at: timestamp(clock) });

    // Nothing changed, so no report follows.
    const seen = timestamp(clock);
    clock.advance(DAY_MS);
    await looks();
    expect(await looked()).toHaveLength(2);
    expect(await reports()).toHaveLength(2);
    expect(await row('shop.example')).toEqual({ reached: true, checked_at: seen });
    expect(await attention()).toEqual([]);
  });

  it('notices within a day that a domain leads elsewhere, and within hours that it is back', async () => {
    await dns.setZone('moved.example', HERE);
    const domain = await added('moved.example');
    clock.advance(DAY_MS);
    await looks();
    await dns.setZone('moved.example', ELSEWHERE);
    clock.advance(DAY_MS);
    await looks();
    expect((await reports()).at(-1)).toBe(
      `Set the A record of moved.example to 127.0.0.1 and ${SILENT}; it is 127.0.0.9 now.`,
    );
    const seen = {
      kind: 'domain_not_reached',
      domain: 'moved.example',
      reason: null,
      retry_operation_id: null,
    };
    const toldAt = (at: string) => [
      { install_id: install.id, install_name: install.name, reasons: [{ ...seen, at }] },
    ];
    expect(await attention()).toEqual(toldAt(timestamp(clock)));
    const path = `/installs/${install.id}/domains/${domain}`;
    expect((await owner.client.get(path)).body).toMatchObject({
      network_details: { network_info: { status: 'FAILED' } },
    });
    // No domain was due.
    expect((await owner.client.post(`${path}/check_status`)).status).toBe(202);
    await homeport.idle();

    // An unreachable domain is checked again sooner, and shows when.
    const count = (await reports()).length;
    clock.advance(3 * HOUR_MS);
    await looks();
    expect(await looked()).toEqual(['moved.example']);
    expect(await reports()).toHaveLength(count);
    expect(await attention()).toEqual(toldAt(timestamp(clock)));

    await dns.setZone('moved.example', HERE);
    clock.advance(3 * HOUR_MS);
    await looks();
    expect(await row('moved.example')).toMatchObject({ reached: true });
    expect(await attention()).toEqual([]);
  });

  onlyInLong(it)('creates one report for a name and its www name', async () => {
    await dns.setZone('pair.example', HERE);
    await added('pair.example');
    await added('www.pair.example');
    clock.advance(DAY_MS);
    await looks();
    await dns.setZone('pair.example', ELSEWHERE);
    clock.advance(DAY_MS);
    // A report of the default domain makes the other two due in the same minute.
    const domains = await owner.client.get(`/installs/${install.id}/domains`);
    const own = text(domains.body, 'results', 0, 'id');
    await owner.client.post(`/installs/${install.id}/domains/${own}/check_status`);
    await homeport.idle();
    const before = (await reports()).length;
    await minute();
    // The report counts as a check of the default domain.
    expect(await looked()).toEqual(['pair.example', `${install.name}.sites.example`, 'www.pair.example']);
    expect(await row('pair.example')).toMatchObject({ reached: false });
    expect(await row('www.pair.example')).toMatchObject({ reached: false });
    expect((await reports()).length - before).toBe(1);
  });

  it('does not blame domains for an outage of the platform, or for a NAT without hairpinning', async () => {
    await dns.setZone('silent.example', HERE);
    await added('silent.example');
    clock.advance(DAY_MS);
    await looks();
    expect(await row('silent.example')).toMatchObject({ reached: true });
    const count = (await reports()).length;
    await dns.setZone('silent.example', `@ A ${SILENT}`);
    clock.advance(DAY_MS);
    await looks();
    expect(await looked()).toContain('silent.example');
    expect(await row('silent.example')).toMatchObject({ reached: true });
    expect(await reports()).toHaveLength(count);
    // One of two addresses belongs to another server, which is a problem of the domain.
    await dns.setZone('silent.example', `@ A ${SILENT}\n@ A 127.0.0.9`);
    clock.advance(DAY_MS);
    await looks();
    expect(await row('silent.example')).toMatchObject({ reached: false });
  });

  onlyInLong(it)(
    'skips domains with a report from today, and keeps the state if it cannot tell',
    async () => {
      await dns.setZone('asked.example', HERE);
      await dns.setZone('private.example', HERE);
      const domain = await added('asked.example');
      await added('private.example');
      clock.advance(DAY_MS);
      await looks();
      await dns.setZone('private.example', '@ A 10.0.0.1');
      clock.advance(DAY_MS - HOUR_MS);
      await owner.client.post(`/installs/${install.id}/domains/${domain}/check_status`);
      await homeport.idle();
      const count = (await reports()).length;
      clock.advance(HOUR_MS);
      await looks();
      expect(await looked()).toEqual(['private.example', `${install.name}.sites.example`]);
      expect(await row('private.example')).toMatchObject({ reached: true });
      expect(await reports()).toHaveLength(count);
    },
  );

  it('does not run if the operator has switched it off', () => {
    const { platform } = homeport;
    const schedules = (watchDomains: boolean) =>
      maintenance(
        { ...platform, config: { ...platform.config, watchDomains } },
        { warn: [{ ...monitorReachability, name: 'warn_of_expiry' }], order: null },
      ).schedules.map(({ name }) => name);
    expect(schedules(true)).toContain(monitorReachability.name);
    expect(schedules(false)).not.toContain(monitorReachability.name);
  });

  onlyInLong(it)('checks served domains only', async () => {
    await dns.setZone('twice.example', HERE);
    await dns.setZone('waits.example', HERE);
    await added('twice.example');
    const other = await homeport.install(owner, accountId);
    await added('twice.example', other);
    const waiting = await homeport.install(owner, accountId);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('installs').set({ status: 'pending' }).where('id', '=', waiting.id).execute(),
    );
    clock.advance(DAY_MS);
    await looks();
    expect(await looked()).toEqual(
      [`${install.name}.sites.example`, `${other.name}.sites.example`, 'twice.example'].sort(),
    );
  });

  it('checks a few domains a minute, longest waiting first, and queues no more while some are left', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'].map((label) => `${label}.many.example`);
    await dns.setZone(
      'many.example',
      'a A 127.0.0.1\nb A 127.0.0.1\nc A 127.0.0.1\nd A 127.0.0.1\ne A 127.0.0.1',
    );
    for (const name of names) await added(name);
    clock.advance(DAY_MS);
    const counts: number[] = [];
    for (let passed = 0; passed < 4; passed += 1) {
      await minute();
      counts.push((await looked()).length);
      clock.advance(MINUTE_MS);
    }
    expect(counts).toEqual([2, 2, 2, 0]);

    const { platform } = homeport;
    const asked = () =>
      platform.database.reader
        .selectFrom('jobs')
        .select(['kind', 'lane'])
        .where('lane', '=', monitorReachability.name)
        .where('state', '=', 'queued')
        .execute();
    await platform.database.write(async (transaction) => {
      const { queue } = platform;
      await queue.enqueue(transaction, checkDomain, {
        payload: { report_id: crypto.randomUUID() },
        lane: monitorReachability.name,
        delayMs: HOUR_MS,
      });
      await reachabilitySchedule(platform).enqueue(transaction, queue);
    });
    expect(await asked()).toEqual([{ kind: checkDomain.name, lane: monitorReachability.name }]);
    await platform.database.write(({ queries }) =>
      queries.deleteFrom('jobs').where('lane', '=', monitorReachability.name).execute(),
    );
  });
});
