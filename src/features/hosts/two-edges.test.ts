import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, text } from '../../../test/client.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { until } from '../../../test/jobs.ts';
import { type ManualClock, manualClock } from '../../../test/manual-clock.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../../../test/servers/dns-server.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { createOutside } from '../../app/network-clients.ts';
import { checkInstallNames } from '../../cli/doctor/install-names.ts';
import type { DatabaseChange } from '../../database/change-feed.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../hosting/remote/identity.ts';
import { precheck } from '../domains/certificates/precheck.ts';

/** Two machines whose edges listen on the same ports. */
const HERE = '127.0.0.1';
const THERE = '127.0.0.3';

describe.skipIf(!findDnsServers())('two hosts, each with its own edge', () => {
  let dns: DnsTestServers;
  let here: ServedMachine;
  let there: ServedMachine;
  let homeport: TestHomeport;
  let clock: ManualClock;
  let accountId: string;
  let owner: Person;
  let hereName: string;
  let onHere: { id: string; name: string };
  let onThere: { id: string; name: string };

  beforeAll(async () => {
    clock = manualClock(new Date());
    // The settings of an operator who began with one machine.
    dns = await startDnsServers({ zones: { 'sites.example': `* A ${HERE}` } });
    here = await serveMachine();
    const { http, https } = here.description.ports;
    there = await serveMachine(
      {},
      { edgeHttp: { host: THERE, port: http }, edgeHttps: { host: THERE, port: https } },
    );
    homeport = await startTestHomeport({
      clock,
      dnsPort: dns.authority.port,
      environment: {
        HOMEPORT_HOST: 'linux',
        HOMEPORT_HOST_RUN_FOLDER: here.runFolder,
        HOMEPORT_SITE_DOMAIN: 'sites.example',
        HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
        HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
        HOMEPORT_EDGE_ADDRESSES: `${HERE},${THERE}`,
      },
    });
    ({ accountId, owner } = await homeport.ownedAccount());
    const { hosts } = homeport.services;
    hereName = (await hosts.list())[0]?.name ?? '';
    const port = await freePort();
    const { identity } = await hosts.add('web2', `https://127.0.0.1:${port}`);
    there.description.id = parseIdentity(identity).hostId;
    await there.listenTls(parseIdentity(identity), port);
    onHere = await homeport.install(owner, accountId);
    await hosts.setAccepting(hereName, false);
    onThere = await homeport.install(owner, accountId);
  });
  afterAll(async () => {
    await homeport?.remove();
    await here?.close();
    await there?.close();
    await dns?.remove();
  });

  async function added(install: { id: string }, name: string): Promise<string> {
    const answer = await owner.client.post(`/installs/${install.id}/domains`, { name });
    expect(answer.status).toBe(201);
    await homeport.idle();
    return text(answer.body, 'id');
  }

  async function reportOn(install: { id: string }, domain: string): Promise<unknown> {
    clock.advance(5_000);
    const path = `/installs/${install.id}/domains`;
    const asked = await owner.client.post(`${path}/${domain}/check_status`);
    await homeport.idle();
    return field(
      (await owner.client.get(`${path}/check_status/${text(asked.body, 'report_id')}`)).body,
      'report',
    );
  }

  /** The prober's result for a name of the other host, before the certificate order. */
  async function precheckOf(name: string) {
    const { platform } = homeport;
    const { internet } = createOutside(platform, {
      edgePorts: () => here.description.ports,
      dnsPort: dns.authority.port,
    });
    const unused = () => Promise.reject(new Error('not used here'));
    const authority = { about: unused, register: unused, obtain: unused, renewalWindow: unused };
    const directoryUrl = 'https://acme.example/directory';
    return precheck(
      { platform, authority, directoryUrl, host: there.machine, internet },
      name,
      AbortSignal.timeout(20_000),
    );
  }

  const config = async (install: { id: string }) =>
    field(
      (await owner.client.get(`/installs/${install.id}/domains`)).body,
      'results',
      0,
      'network_details',
      'dns_config_info',
    );
  const status = async (install: { id: string }, domain: string) =>
    field(
      (await owner.client.get(`/installs/${install.id}/domains/${domain}`)).body,
      'network_details',
      'network_info',
      'status',
    );

  it('use the addresses from the settings until one has its own', async () => {
    const shared = [HERE, THERE];
    expect(await config(onHere)).toEqual({ cname: `${onHere.name}.sites.example`, a_records: shared });
    expect(await config(onThere)).toEqual({ cname: `${onThere.name}.sites.example`, a_records: shared });

    const told: DatabaseChange[] = [];
    const { changes } = homeport.platform.database;
    let follows = false;
    const unsubscribe = changes.subscribe({
      changed: (change) => told.push(change),
      resync: () => {
        follows = true;
      },
    });
    await until(() => expect(follows).toBe(true));
    await homeport.services.hosts.change('web2', { edgeAddresses: [THERE] });
    expect(await config(onThere)).toEqual({ cname: `${onThere.name}.sites.example`, a_records: [THERE] });
    expect(await config(onHere)).toMatchObject({ a_records: shared });
    // The domains of that host show the new addresses; pages of other hosts reload nothing.
    const change = {
      topic: 'domain',
      account_id: accountId,
      install_id: onThere.id,
      id: null,
      user_id: null,
    };
    await until(() => expect(told).toEqual([change]));
    // Setting the same addresses changes nothing.
    await homeport.services.hosts.change('web2', { edgeAddresses: [THERE] });
    await homeport.services.hosts.change(hereName, { edgeAddresses: [HERE] });
    await until(() => expect(told.map(({ install_id }) => install_id)).toEqual([onThere.id, onHere.id]));
    unsubscribe();
  });

  it('appear in a report, one wrong and one right', async () => {
    await dns.setZone('wrong.example', `@ A ${HERE}\nwww CNAME ${onThere.name}.sites.example.`);
    const domain = await added(onThere, 'wrong.example');
    expect(await reportOn(onThere, domain)).toMatchObject({
      install_ip: THERE,
      domains: [
        {
          cluster_id: 'web2',
          ip: [HERE],
          result: `Set the A record of wrong.example to ${THERE}; it is ${HERE} now.`,
        },
      ],
    });
    expect(await status(onThere, domain)).toBe('FAILED');

    expect(await precheckOf('wrong.example')).toEqual({
      reached: false,
      refusal: `wrong.example leads to ${HERE}, a host of this platform that does not serve it; set its DNS record to ${THERE}.`,
    });

    await dns.setZone('wrong.example', `@ A ${THERE}\nwww CNAME ${onThere.name}.sites.example.`);
    expect(await reportOn(onThere, domain)).toMatchObject({
      domains: [{ ip: [THERE], result: expect.stringContaining('wrong.example answers here') }],
    });
    expect(await status(onThere, domain)).toBe('ACTIVE');

    await dns.setZone('right.example', `@ A ${HERE}`);
    expect(await reportOn(onHere, await added(onHere, 'right.example'))).toMatchObject({
      install_ip: HERE,
      domains: [{ result: expect.stringContaining('right.example answers here') }],
    });
  });

  it('have default domains that a wildcard record sends to the wrong host; doctor and reports show it', async () => {
    const domains = await owner.client.get(`/installs/${onThere.id}/domains?limit=100`);
    const www = await added(onThere, 'www.wrong.example');
    const own = text(domains.body, 'results', 0, 'id');
    const name = `${onThere.name}.sites.example`;
    const sentence = async (domain: string) => field(await reportOn(onThere, domain), 'domains', 0, 'result');
    expect(await sentence(www)).toBe(
      `The CNAME of www.wrong.example is right, but ${name} leads to ${HERE}, where it is not served; ask your provider to point it to ${THERE}.`,
    );
    expect(await sentence(own)).toBe(
      `The edge serves ${name}, but visitors cannot reach it; ask your provider to point it to ${THERE} in the DNS and open ports 80 and 443.`,
    );
    const { platform } = homeport;
    expect(await checkInstallNames(platform.database, platform.config)).toEqual([
      {
        check: 'install names',
        state: 'problem',
        message: `1 of 2 names of installs leads to a host that does not serve it: ${name} (to ${HERE}, is on web2).`,
        remedy: expect.stringContaining('homeport host records'),
      },
    ]);

    await dns.setZone('sites.example', `* A ${HERE}\n${onThere.name} A ${THERE}`);
    expect(await sentence(www)).toContain('www.wrong.example answers here');
    expect(await sentence(own)).toContain(`The edge serves ${name} with a self-signed certificate`);
    expect(await checkInstallNames(platform.database, platform.config)).toMatchObject([{ state: 'ok' }]);
  });
});
