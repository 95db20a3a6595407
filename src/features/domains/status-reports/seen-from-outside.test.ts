import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { field, text } from '../../../../test/client.ts';
import { visit } from '../../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../../../../test/servers/dns-server.ts';
import {
  type ChainKind,
  createTestPki,
  startPlainServer,
  startTlsServer,
  type TestPki,
  type TestSite,
} from '../../../../test/servers/tls-servers.ts';
import { DOMAIN_CHECK_PREFIX } from '../../../hosting/contract/proofs.ts';

/** Address of foreign servers, which use the same ports as the edge. */
const ELSEWHERE = '127.0.0.7';
const HERE = '@ A 127.0.0.1\nwww A 127.0.0.1\n';

describe.skipIf(!findDnsServers())('a report of a domain from outside', () => {
  let folder: string;
  let dns: DnsTestServers;
  let pki: TestPki;
  let clock: ManualClock;
  let homeport: TestHomeport;
  let accountId: string;
  let owner: Person;
  let install: { id: string; name: string };
  const others: TestSite[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-outside-'));
    clock = manualClock(new Date());
    pki = await createTestPki(['cdn.example'], clock.now());
    const roots = join(folder, 'roots.pem');
    writeFileSync(roots, pki.root);
    dns = await startDnsServers({
      zones: { 'sites.example': '* A 127.0.0.1', 'cdn.example': `@ A ${ELSEWHERE}` },
    });
    homeport = await startTestHomeport({
      clock,
      dnsPort: dns.authority.port,
      environment: {
        HOMEPORT_SITE_DOMAIN: 'sites.example',
        HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
        HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
        HOMEPORT_ACME_CA: roots,
      },
    });
    ({ accountId, owner } = await homeport.ownedAccount());
  });
  beforeEach(async () => {
    install = await homeport.install(owner, accountId);
  });
  afterEach(async () => {
    for (const other of others.splice(0)) await other.remove();
  });
  afterAll(async () => {
    await homeport?.remove();
    await dns?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function added(name: string): Promise<string> {
    const answer = await owner.client.post(`/installs/${install.id}/domains`, { name });
    expect(answer.status).toBe(201);
    await homeport.idle();
    return text(answer.body, 'id');
  }

  async function removed(domain: string): Promise<void> {
    await owner.client.delete(`/installs/${install.id}/domains/${domain}`);
    await homeport.idle();
  }

  async function reportOn(domain: string): Promise<unknown> {
    clock.advance(5_000);
    const path = `/installs/${install.id}/domains`;
    const asked = await owner.client.post(`${path}/${domain}/check_status`);
    expect(asked.status).toBe(202);
    await homeport.idle();
    const read = await owner.client.get(`${path}/check_status/${text(asked.body, 'report_id')}`);
    const report = field(read.body, 'report');
    expect(report).toMatchObject({ complete: true });
    return report;
  }

  /** Adds a name and returns its check from a report. */
  async function seen(name: string): Promise<unknown> {
    return field(await reportOn(await added(name)), 'domains', 0);
  }

  function row(domain: string) {
    return homeport.platform.database.reader
      .selectFrom('domains')
      .select(['reached', 'checked_at'])
      .where('id', '=', domain)
      .executeTakeFirstOrThrow();
  }

  const edgePorts = () => {
    if (homeport.hosting === null) throw new Error('there is no edge');
    return { http: homeport.hosting.edgeHttp.port, https: homeport.hosting.edgeHttps.port };
  };

  /** A CDN in front of the edge that forwards requests below `/.well-known/`. */
  async function startCdn(kind: ChainKind, answer: RequestListener): Promise<void> {
    const passing: RequestListener = (incoming, outgoing) => {
      if (!incoming.url?.startsWith(DOMAIN_CHECK_PREFIX)) return answer(incoming, outgoing);
      const { url: path, headers } = incoming;
      httpRequest({ host: '127.0.0.1', port: edgePorts().http, path, headers, agent: false }, (passed) => {
        outgoing.writeHead(passed.statusCode ?? 502);
        passed.pipe(outgoing);
      }).end();
    };
    const { http, https } = edgePorts();
    others.push(
      await startPlainServer({ address: ELSEWHERE, port: http, answer: passing }),
      await startTlsServer(pki.chains[kind], { address: ELSEWHERE, port: https, answer: passing }),
    );
  }

  it('fills every field, and records that visitors arrive', async () => {
    await dns.setZone(
      'full.example',
      [
        '@ A 127.0.0.1',
        '@ MX 10 mail',
        'mail A 127.0.0.1',
        '@ TXT "v=spf1 -all"',
        '@ CAA 0 issue "ca.example"',
        'www A 127.0.0.1',
      ].join('\n'),
    );
    const domain = await added('full.example');
    const www = await added('www.full.example');
    const report = await reportOn(domain);
    const header = { name: 'full.example', class: 1, ttl: expect.any(Number), rdlength: expect.any(Number) };
    expect(report).toMatchObject({
      install_name: install.name,
      install_ip: '127.0.0.1',
      domains: [
        {
          name: 'full.example',
          cname: '',
          a_record: '127.0.0.1',
          aaaa_record: '',
          result: expect.stringMatching(/^full\.example answers here with a self-signed certificate/),
          dns_provider: 'full.example',
          cluster_id: 'embedded',
          http_forwarded: '',
          http_forwarded_list: '',
          platform_env_id: install.id,
          complete: true,
          dns_error: false,
          http_error: false,
          ns: [{ host: 'ns1.full.example' }],
          mx: [{ Host: 'mail.full.example', Pref: 10 }],
          txt: ['v=spf1 -all'],
          ip: ['127.0.0.1'],
          address: ['127.0.0.1'],
          soa: [{ hdr: { ...header, rrtype: 6 }, ns: 'ns1.full.example', minttl: 60 }],
          caa: [{ hdr: { ...header, rrtype: 257 }, flag: 0, tag: 'issue', value: 'ca.example' }],
          aname: [{ hdr: { ...header, rrtype: 1, rdlength: 4 }, a: '127.0.0.1' }],
          ssl: {
            status: 'self_signed',
            issuer: 'full.example',
            common_name: 'full.example',
            dns_names: ['full.example'],
            sans: ['full.example'],
            signature_algorithm: 10,
          },
        },
        { name: 'www.full.example', a_record: '127.0.0.1', complete: true },
      ],
    });
    for (const id of [domain, www]) {
      expect(await row(id)).toEqual({
        reached: true,
        checked_at: clock.now().toISOString(),
      });
    }
  });

  onlyInLong(it)('follows a CNAME, and checks a wildcard through a name below it', async () => {
    await dns.setZone('below.example', `www CNAME ${install.name}.sites.example.\n* A 127.0.0.1`);
    expect(await seen('www.below.example')).toMatchObject({
      cname: `${install.name}.sites.example`,
      a_record: '127.0.0.1',
      result: expect.stringMatching(/^www\.below\.example answers here with a self-signed/),
    });
    const wildcard = await added('*.below.example');
    expect(field(await reportOn(wildcard), 'domains', 0)).toMatchObject({
      a_record: '127.0.0.1',
      result: expect.stringMatching(/^\*\.below\.example answers here/),
    });
    expect(await row(wildcard)).toMatchObject({ reached: true });
  });

  it('says what to change for a name that does not exist or has no address', async () => {
    await dns.setZone('gaps.example', 'text TXT "only this"');
    const domain = await added('www.gaps.example');
    expect(field(await reportOn(domain), 'domains', 0)).toMatchObject({
      dns_error: true,
      http_error: true,
      soa: [{}],
      ssl: { status: 'none' },
      result: `Create the CNAME record of www.gaps.example with the value ${install.name}.sites.example; www.gaps.example does not exist in the DNS.`,
    });
    // A name without an address does not lead here.
    expect(await row(domain)).toEqual({ reached: false, checked_at: clock.now().toISOString() });
    expect(await seen('text.gaps.example')).toMatchObject({
      dns_error: true,
      result:
        'Create the A record of text.gaps.example with the value 127.0.0.1; text.gaps.example has no address yet.',
    });
    expect(await seen('www.nobody-has-this.example')).toMatchObject({
      dns_error: true,
      result:
        'Register the domain nobody-has-this.example, or correct its spelling here; it does not exist in the DNS.',
    });
  });

  it('says what to change for a name that leads elsewhere, and confirms the fix', async () => {
    others.push(await startPlainServer({ address: ELSEWHERE, port: edgePorts().http }));
    await dns.setZone('moved.example', `@ A ${ELSEWHERE}\nwww CNAME moved.example.`);
    const apex = await added('moved.example');
    await added('www.moved.example');
    expect(await reportOn(apex)).toMatchObject({
      domains: [
        {
          result: `Set the A record of moved.example to 127.0.0.1; it is ${ELSEWHERE} now.`,
          http_error: false,
        },
        {
          result: `Set the CNAME of www.moved.example to ${install.name}.sites.example; it points to moved.example now.`,
        },
      ],
    });
    expect(await row(apex)).toMatchObject({ reached: false });

    // The name servers have the new answer at once, caches only later.
    await dns.setZone('moved.example', HERE, { keepCache: true });
    expect(field(await reportOn(apex), 'domains', 0)).toMatchObject({
      ip: [ELSEWHERE],
      address: ['127.0.0.1'],
      result: expect.stringMatching(
        /^The DNS of moved\.example is right at its name servers; caches may keep the old answer for up to \d minutes more\.$/,
      ),
    });
    await dns.setZone('moved.example', HERE);
    expect(field(await reportOn(apex), 'domains', 0)).toMatchObject({
      result: expect.stringMatching(/^moved\.example answers here/),
    });
    expect(await row(apex)).toMatchObject({ reached: true });
  });

  it('names the one of several addresses that must go', async () => {
    await dns.setZone('closed.example', `@ A 127.0.0.1\n@ A ${ELSEWHERE}`);
    expect(await seen('closed.example')).toMatchObject({
      result: `Remove the A record ${ELSEWHERE} of closed.example; it leads elsewhere.`,
    });
  });

  it('never connects to private addresses', async () => {
    await dns.setZone('inside.example', '@ A 10.1.2.3');
    const domain = await added('inside.example');
    expect(field(await reportOn(domain), 'domains', 0)).toMatchObject({
      dns_error: false,
      http_error: true,
      ip: ['10.1.2.3'],
      ssl: { status: 'none', error: expect.stringContaining('10.1.2.3') },
      result:
        'Set the A record of inside.example to 127.0.0.1; 10.1.2.3 is a private address that visitors cannot reach.',
    });
    expect(await row(domain)).toMatchObject({ reached: null });
  });

  it('works through a CDN, and reads its certificate', async () => {
    await startCdn('good', (_request, response) => void response.end('hello'));
    const domain = await added('cdn.example');
    const report = await reportOn(domain);
    expect(field(report, 'domains', 0)).toMatchObject({
      result: 'cdn.example answers here over HTTPS.',
      a_record: ELSEWHERE,
      http_error: false,
      ssl: {
        status: 'verified',
        error: '',
        issuer: 'Homeport Test Intermediate',
        dns_names: ['cdn.example'],
        not_after: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        serial_number: expect.stringMatching(/^[0-9A-F]+$/),
      },
    });
    expect(await row(domain)).toMatchObject({ reached: true });
    await removed(domain);
  });

  it.each([
    ['expired', 'failed', 'expired on'],
    ['wrong_name', 'failed', 'does not cover it'],
    ['incomplete_chain', 'failed', 'certificate'],
    ['self_signed', 'self_signed', 'self-signed'],
  ] as const)('tells a certificate that is %s', async (kind, status, words) => {
    await startCdn(kind, (_request, response) => void response.end('hello'));
    const domain = await added('cdn.example');
    expect(field(await reportOn(domain), 'domains', 0)).toMatchObject({
      ssl: { status, error: expect.stringContaining(words) },
      result: expect.stringMatching(/^cdn\.example answers here.*(not securely|self-signed)/),
    });
    await removed(domain);
  });

  it('lists redirects, and names loops', async () => {
    const redirect =
      (...places: string[]): RequestListener =>
      ({ url }, response) => {
        const at = places.indexOf(url ?? '');
        const next = places[at + 1];
        if (next === undefined) return void response.end('arrived');
        response.writeHead(301, { location: `http://cdn.example${next}` }).end();
      };
    await startCdn('good', redirect('/', '/one', '/two'));
    const domain = await added('cdn.example');
    expect(field(await reportOn(domain), 'domains', 0)).toMatchObject({
      http_error: false,
      http_forwarded: 'http://cdn.example/two',
      http_forwarded_list: 'http://cdn.example/ -> http://cdn.example/one -> http://cdn.example/two',
      result: 'cdn.example answers here over HTTPS.',
    });
    for (const other of others.splice(0)) await other.remove();

    await startCdn('good', redirect('/', '/one', '/'));
    const circle = 'http://cdn.example/ -> http://cdn.example/one -> http://cdn.example/';
    expect(field(await reportOn(domain), 'domains', 0)).toMatchObject({
      http_error: true,
      http_forwarded: 'http://cdn.example/',
      http_forwarded_list: circle,
      result: expect.stringContaining(`cdn.example answers here, but redirects in a loop (${circle})`),
    });
    await removed(domain);
  });

  it('says that the edge serves the default domain', async () => {
    const listed = await owner.client.get(`/installs/${install.id}/domains`);
    const own = field(await reportOn(text(listed.body, 'results', 0, 'id')), 'domains', 0);
    expect(own).toMatchObject({
      a_record: '127.0.0.1',
      result: expect.stringMatching(
        new RegExp(`^The edge serves ${install.name}\\.sites\\.example with a self-signed certificate`),
      ),
    });
  });

  it('leaves no token behind', async () => {
    const asked: string[] = [];
    others.push(
      await startPlainServer({
        address: ELSEWHERE,
        port: edgePorts().http,
        answer: ({ url = '' }, response) => {
          if (url.startsWith(DOMAIN_CHECK_PREFIX)) asked.push(url);
          response.end('mine');
        },
      }),
    );
    await dns.setZone('tidy.example', `@ A ${ELSEWHERE}`);
    await seen('tidy.example');
    expect(asked).toHaveLength(1);
    for (const path of asked) {
      const { status } = await visit(homeport, `http://tidy.example${path}`);
      expect(status).toBe(404);
    }
  });
});
