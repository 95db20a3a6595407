import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { signedIn } from '../../../../test/portal-client.ts';
import { NOT_FOUND } from '../../../../test/refusal.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { createOutside } from '../../../app/network-clients.ts';
import { domainReportJobKinds } from './job-kinds.ts';

/** A closed port. Checks that need no DNS must not wait for it, and no test uses the machine's resolver. */
const NO_RESOLVER = '127.0.0.1:9';

let homeport: TestHomeport;
let clock: ManualClock;
let accountId: string;
let owner: Person;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock, environment: { HOMEPORT_RESOLVERS: NO_RESOLVER } });
  ({ accountId, owner } = await homeport.ownedAccount());
});
afterAll(() => homeport.remove());

type Install = { id: string; name: string };

async function added(install: Install, name: string): Promise<string> {
  const answer = await owner.client.post(`/installs/${install.id}/domains`, { name });
  await homeport.idle();
  return text(answer.body, 'id');
}

const check = (install: Install, domain: string, client = owner.client) =>
  client.post(`/installs/${install.id}/domains/${domain}/check_status`);
const read = (install: Install, report: string, client = owner.client) =>
  client.get(`/installs/${install.id}/domains/check_status/${report}`);

/** Requests a report once the rate limit allows it, and reads it when it is complete. */
async function reportOn(install: Install, domain: string): Promise<unknown> {
  clock.advance(5_000);
  const answer = await check(install, domain);
  expect(answer.status).toBe(202);
  await homeport.idle();
  return field((await read(install, text(answer.body, 'report_id'))).body, 'report');
}

const sentence = (report: unknown, index = 0) => field(report, 'domains', index, 'result');

describe('a report', () => {
  it('can be read at once with its names, and becomes complete', async () => {
    const install = await homeport.install(owner, accountId);
    const domain = await added(install, 'report.example');
    const asked = await check(install, domain);
    expect(asked.status).toBe(202);
    const id = text(asked.body, 'report_id');
    expect(asked.body).toEqual({ report_id: expect.stringMatching(/^[0-9a-f-]{14}4/) });
    const first = await read(install, id);
    expect(first).toMatchObject({
      status: 200,
      body: { report: { id, install_name: install.name, domains: [{ name: 'report.example', ns: [] }] } },
    });
    await homeport.idle();
    expect((await read(install, id)).body).toEqual({
      report: {
        complete: true,
        id,
        install_name: install.name,
        install_ip: '127.0.0.1',
        admin: false,
        domains: [
          {
            name: 'report.example',
            cname: '',
            a_record: '',
            aaaa_record: '',
            result:
              'No DNS resolver could be reached to look up report.example; check again in a minute, and ask the operator to check the resolvers if it still fails.',
            dns_provider: '',
            install_name: install.name,
            cluster_id: 'embedded',
            http_forwarded: '',
            http_forwarded_list: '',
            platform_env_id: install.id,
            complete: true,
            dns_error: true,
            http_error: true,
            ns: [],
            mx: [],
            txt: [],
            ip: [],
            address: [],
            soa: [],
            caa: [],
            aname: [],
            ssl: {
              status: 'none',
              issuer: '',
              not_before: '',
              not_after: '',
              error: expect.stringContaining('report.example'),
              serial_number: '',
              common_name: '',
              dns_names: [],
              sans: [],
              signature_algorithm: 0,
              subject: {
                common_name: '',
                organization: [],
                organizational_unit: [],
                country: [],
                province: [],
                locality: [],
              },
            },
          },
        ],
      },
    });
  });

  it('includes the sibling with or without www if the install has it', async () => {
    const install = await homeport.install(owner, accountId);
    const apex = await added(install, 'pair.example');
    const www = await added(install, 'www.pair.example');
    await added(install, 'blog.pair.example');
    expect(await reportOn(install, apex)).toMatchObject({
      domains: [{ name: 'pair.example' }, { name: 'www.pair.example' }],
    });
    expect(await reportOn(install, www)).toMatchObject({
      domains: [{ name: 'www.pair.example' }, { name: 'pair.example' }],
    });
  });

  onlyInLong(it)('needs no DNS for what the platform knows', async () => {
    const [install, other] = [
      await homeport.install(owner, accountId),
      await homeport.install(owner, accountId),
    ];
    const own = text((await owner.client.get(`/installs/${install.id}/domains`)).body, 'results', 0, 'id');
    const ofOwn = await reportOn(install, own);
    expect(sentence(ofOwn)).toBe(
      `The edge serves ${install.name}.localhost, a name of this machine only, which visitors elsewhere cannot reach.`,
    );
    // This name is unreachable from outside by design.
    expect(field(ofOwn, 'domains', 0)).toMatchObject({
      dns_error: false,
      http_error: false,
      ip: ['127.0.0.1', '::1'],
    });

    await added(other, 'stands.example');
    const duplicate = await added(install, 'stands.example');
    expect(sentence(await reportOn(install, duplicate))).toBe(
      'stands.example is served by another install; remove it there to serve it here.',
    );

    const failed = await added(install, 'state.example');
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('domains').set({ network_status: 'FAILED' }).where('id', '=', failed).execute(),
    );
    expect(sentence(await reportOn(install, failed))).toBe(
      'The edge could not start to serve state.example; the operator can find the cause in the log.',
    );
  });

  it('becomes complete even if its check gives up', async () => {
    const install = await homeport.install(owner, accountId);
    const domain = await added(install, 'fault.example');
    const id = text((await check(install, domain)).body, 'report_id');
    await homeport.idle();
    const { database } = homeport.platform;
    await database.write(({ queries }) =>
      queries.updateTable('domain_reports').set({ complete: false }).where('id', '=', id).execute(),
    );
    const { internet } = createOutside(homeport.platform, {
      edgePorts: () => ({ http: 9, https: 9 }),
      dnsPort: 9,
    });
    const host = { publish: async () => undefined, withdraw: async () => undefined };
    const [kind] = domainReportJobKinds(homeport.platform, {
      host,
      internet,
      issuance: null,
    });
    await database.write(async (transaction) =>
      kind?.giveUp?.(
        { report_id: id },
        { jobId: 'x', reason: 'disk full', code: 'failed', attempts: 3 },
        transaction,
      ),
    );
    expect((await read(install, id)).body).toMatchObject({
      report: {
        complete: true,
        domains: [
          {
            complete: true,
            result:
              'fault.example could not be checked because of an internal error; request another report.',
          },
        ],
      },
    });
  });

  it('stays when the domain is deleted, and is deleted with the install', async () => {
    const install = await homeport.install(owner, accountId);
    const domain = await added(install, 'goes.example');
    const id = text((await check(install, domain)).body, 'report_id');
    await homeport.idle();
    await owner.client.delete(`/installs/${install.id}/domains/${domain}`);
    expect((await read(install, id)).body).toMatchObject({
      report: { complete: true, domains: [{ name: 'goes.example' }] },
    });
    await owner.client.delete(`/installs/${install.id}`);
    expect(await read(install, id)).toMatchObject(NOT_FOUND);
  });

  onlyInLong(it)('is complete and empty if the domain was deleted before the check', async () => {
    const install = await homeport.install(owner, accountId);
    const domain = await added(install, 'quick.example');
    const [asked] = await Promise.all([
      check(install, domain),
      owner.client.delete(`/installs/${install.id}/domains/${domain}`),
    ]);
    await homeport.idle();
    if (asked.status === 202) {
      expect((await read(install, text(asked.body, 'report_id'))).body).toMatchObject({
        report: { complete: true },
      });
    } else expect(asked).toMatchObject(NOT_FOUND);
  });
});

describe('the rate limit', () => {
  const limited = (seconds: number) => ({
    status: 429,
    headers: { 'retry-after': String(seconds) },
    body: {
      message: 'Domain status checks are rate-limited to one request every 5 seconds for each install',
    },
  });

  it('is one request in 5 seconds for each install, whatever the domain', async () => {
    const [install, other] = [
      await homeport.install(owner, accountId),
      await homeport.install(owner, accountId),
    ];
    const one = await added(install, 'limit1.example');
    const two = await added(install, 'limit2.example');
    const elsewhere = await added(other, 'limit3.example');
    expect((await check(install, one)).status).toBe(202);
    expect(await check(install, one)).toMatchObject(limited(5));
    expect(await check(install, two)).toMatchObject(limited(5));
    expect((await check(other, elsewhere)).status).toBe(202);
    clock.advance(4_999);
    expect(await check(install, two)).toMatchObject(limited(1));
    clock.advance(1);
    expect((await check(install, two)).status).toBe(202);
  });

  it('counts only accepted requests, and accepts one of several at the same time', async () => {
    const install = await homeport.install(owner, accountId);
    const domain = await added(install, 'limit4.example');
    const stranger = (await homeport.ownedAccount()).owner;
    expect(await check(install, crypto.randomUUID())).toMatchObject(NOT_FOUND);
    expect(await check(install, domain, stranger.client)).toMatchObject(NOT_FOUND);
    const answers = await Promise.all(Array.from({ length: 5 }, () => check(install, domain)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429, 429, 429, 429]);
  });
});

describe('reports of all domains of an install', () => {
  const checkAll = async (install: Install, person = owner) =>
    (await signedIn(homeport, person)).post(`/installs/${install.id}/domains/check_all`);

  it('cover a name and its www name together, and skip domains with an unfinished report', async () => {
    const install = await homeport.install(owner, accountId);
    const names = ['all.example', 'www.all.example', 'other.all.example'];
    const [apex] = [await added(install, 'all.example')];
    for (const name of names.slice(1)) await added(install, name);
    clock.advance(5_000);
    const asked = await checkAll(install);
    expect(asked.status).toBe(202);
    const ids = field(asked.body, 'report_ids');
    const reports = Array.isArray(ids) ? ids.map(String) : [];
    // The default domain has one, too.
    expect(reports).toHaveLength(3);
    expect((await checkAll(install)).status).toBe(429);
    await homeport.idle();
    const seen = [];
    for (const id of reports) {
      const { body } = await read(install, id);
      expect(field(body, 'report', 'complete')).toBe(true);
      const domains = field(body, 'report', 'domains');
      for (const domain of Array.isArray(domains) ? domains : []) seen.push(field(domain, 'name'));
    }
    expect(seen).toEqual([`${install.name}.localhost`, ...names]);

    clock.advance(5_000);
    await homeport.platform.database.write(({ queries }) =>
      queries.updateTable('domain_reports').set({ complete: false }).where('domain_id', '=', apex).execute(),
    );
    expect(field((await checkAll(install)).body, 'report_ids')).toHaveLength(2);
  });

  it('are allowed to users who may work on the install', async () => {
    const install = await homeport.install(owner, accountId);
    expect((await checkAll(install, await homeport.person())).status).toBe(404);
    const given = await homeport.person(accountId, 'partial', [install.id]);
    expect((await checkAll(install, given)).status).toBe(202);
  });
});

it('answers 404 for a hidden report, one of another install, a missing one and an invalid id', async () => {
  const [install, other] = [
    await homeport.install(owner, accountId),
    await homeport.install(owner, accountId),
  ];
  const domain = await added(install, 'hidden.example');
  const partial = await homeport.person(accountId, 'partial', [install.id]);
  const stranger = (await homeport.ownedAccount()).owner;
  const id = text((await check(install, domain, partial.client)).body, 'report_id');
  expect((await read(install, id, partial.client)).status).toBe(200);
  expect(await read(install, id, stranger.client)).toMatchObject(NOT_FOUND);
  expect(await read(other, id)).toMatchObject(NOT_FOUND);
  expect(await check(other, domain)).toMatchObject(NOT_FOUND);
  expect(await check(other, domain, partial.client)).toMatchObject(NOT_FOUND);
  for (const bad of [crypto.randomUUID(), 'x']) {
    expect(await read(install, bad)).toMatchObject(NOT_FOUND);
    expect(await check(install, bad)).toMatchObject(NOT_FOUND);
    expect(await check({ id: bad, name: '' }, domain)).toMatchObject(NOT_FOUND);
  }
});
