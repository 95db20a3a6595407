import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { text } from '../client.ts';
import { visit } from '../edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../homeport.ts';
import { steps } from '../rounds.ts';
import { type AcmeServer, startAcmeServer } from '../servers/acme-server.ts';
import { certificateMaker, pkcs8 } from '../servers/certificate-maker.ts';
import { type DnsTestServers, startDnsServers } from '../servers/dns-server.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

/** Every name in these zones resolves to this machine. */
const HERE = '@ A 127.0.0.1\n* A 127.0.0.1\n';

let folder: string;
let dns: DnsTestServers;
let acme: AcmeServer;
let machine: TestMachine;
let homeport: TestHomeport;
let owner: Person;
let install: { id: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-certificates-'));
  dns = await startDnsServers({ zones: { 'sites.test': HERE, 'here.example': HERE } });
  machine = await createPreparedMachine({
    HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
    HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  });
  await machine.start();
  acme = await startAcmeServer({ dnsServer: dns.resolver, httpPort: machine.config.edgeHttp.port });
  const roots = join(folder, 'roots.pem');
  await writeFile(roots, `${acme.ca}\n${await acme.root()}`);
  homeport = await startTestHomeport({
    dnsPort: dns.authority.port,
    environment: {
      ...machine.environment,
      HOMEPORT_ACME_DIRECTORY: acme.directoryUrl,
      HOMEPORT_ACME_CONTACT: 'hostmaster@operator.example',
      HOMEPORT_ACME_CA: roots,
    },
  });
  const { accountId, owner: person } = await homeport.ownedAccount();
  owner = person;
  install = await homeport.install(owner, accountId);
});
afterAll(async () => {
  await homeport?.remove();
  await machine?.remove();
  await acme?.remove();
  await dns?.remove();
  await rm(folder, { recursive: true, force: true });
});

const look = (address: string) => {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  return visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, address);
};

test('an authority verifies a name through nginx, which then serves the certificate and forces HTTPS', async () => {
  const name = 'shop.here.example';
  const added = await owner.client.post(`/installs/${install.id}/domains`, { name, primary: true });
  expect(added.status).toBe(201);
  await homeport.idle();
  const path = `/installs/${install.id}/domains/${text(added.body, 'id')}`;
  expect((await owner.client.get(`${path}/ssl_certificate`)).body).toMatchObject({
    certificate: { cert_source: 'LETS_ENCRYPT' },
  });
  const shown = await look(`https://${name}/`);
  expect(shown.status).toBe(200);
  expect(shown.certificateNames).toBe(`DNS:${name}`);

  expect((await owner.client.patch(path, { secure_all_urls: true })).status).toBe(200);
  await homeport.idle();
  const plain = await look(`http://${name}/page?query=1`);
  expect(plain.status).toBe(301);
  expect(plain.headers.location).toBe(`https://${name}/page?query=1`);
  // WordPress knows that its address has HTTPS.
  expect((await look(`https://${name}/feed/`)).body).toContain(`https://${name}`);

  const check = await owner.client.post(`${path}/check_status`);
  await homeport.idle();
  const report = `/installs/${install.id}/domains/check_status/${text(check.body, 'report_id')}`;
  expect((await owner.client.get(report)).body).toMatchObject({
    report: { domains: [{ name, http_error: false, dns_error: false }] },
  });
});

test.each(steps(['p256'], ['p256', 'rsa2048']))(
  'nginx serves an uploaded certificate with a key of %s at once',
  async (keys) => {
    const base = `${keys}.uploaded.example`;
    const names = [base, `www.${base}`, `other.${keys}.example`];
    for (const name of names) {
      expect((await owner.client.post(`/installs/${install.id}/domains`, { name })).status).toBe(201);
    }
    await homeport.idle();
    const make = certificateMaker(new Date());
    const root = await make({ name: 'Test Root', days: [-10, 3650] });
    const intermediate = await make({ name: 'Test Intermediate', days: [-10, 3650] }, root);
    const leaf = await make({ name: base, names: [base, `*.${base}`], keys }, intermediate);
    const answer = await owner.client.post(`/installs/${install.id}/ssl_certificates/third_party`, {
      certificate: leaf.pem + intermediate.pem + root.pem,
      private_key: pkcs8(leaf.key),
    });
    expect(answer).toMatchObject({ status: 200, body: { domains: names.slice(0, 2), private_key: '' } });
    await homeport.idle();
    const { fingerprint256 } = new X509Certificate(leaf.pem);
    for (const name of names.slice(0, 2)) {
      expect(await look(`https://${name}/`)).toMatchObject({ status: 200, fingerprint: fingerprint256 });
    }
    expect((await look(`https://${names[2]}/`)).fingerprint).not.toBe(fingerprint256);
  },
);
