import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SMTPServer } from 'smtp-server';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { afterAll, expect, test } from 'vitest';
import { type Query, reply, startFakeDnsServer } from '../../src/network/dns/fake-dns-server.fixture.ts';
import { environmentFor, run, serve } from '../cli/run-homeport.ts';
import { createAgent, createClient, field, text } from '../client.ts';
import { databasePlace } from '../database.ts';
import { onlyInLong } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';
import { makeOddCertificates } from '../servers/odd-certificates.ts';
import { type ServerChain, startTlsServer } from '../servers/tls-servers.ts';

/** Each connects to servers that others choose, or that an attacker could stand for. Node crashes in each of these handshakes. */
const CLIENTS = ['webhook', 's3', 'acme', 'smtp'];

const { authority, usual, impostor, odd } = makeOddCertificates('localhost', 0);
const key = usual.key ?? '';
const withImpostor: ServerChain = { chain: usual.pem + impostor, key };
const chains: ServerChain[] = [
  { chain: usual.pem, key },
  withImpostor,
  ...['curve brainpoolP256r1', 'curve brainpoolP384r1', 'explicit prime256v1', 'Ed448', 'RSA-PSS']
    .flatMap((name) => odd.find((one) => one.name === name) ?? [])
    .map(({ pem, key: own }) => ({ chain: pem, key: own ?? '' })),
];

const folder = mkdtempSync(join(tmpdir(), 'homeport-odd-servers-'));
const authorityFile = join(folder, 'authority.pem');
writeFileSync(authorityFile, authority);
afterAll(() => rmSync(folder, { recursive: true }));

async function startMailServer({ chain, key }: ServerChain) {
  const server = new SMTPServer({ secure: true, cert: chain, key, authOptional: true });
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  await new Promise((resolve) => listening.once('listening', resolve));
  const { port } = listening.address() as AddressInfo;
  return { port, remove: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

test('webhooks, S3, ACME and mail survive servers with odd certificates', async () => {
  const web = await Promise.all(chains.map((chain) => startTlsServer(chain)));
  const mail = await Promise.all(chains.map(startMailServer));
  const ports = { web: web.map(({ port }) => port), mail: mail.map(({ port }) => port) };
  const script = join(import.meta.dirname, 'visit-odd-servers.ts');
  const { PATH, NODE_COMPILE_CACHE = '' } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(ports)], {
    env: { PATH, NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS: authorityFile, ODD_AUTHORITY: authority },
  });
  await Promise.all([...web, ...mail].map((server) => server.remove()));
  const outcomes = Parse(
    Type.Array(Type.Object({ client: Type.String(), outcome: Type.String() })),
    JSON.parse(stdout),
  );
  for (const client of CLIENTS) {
    const own = outcomes.filter((one) => one.client === client).map(({ outcome }) => outcome);
    expect(own).toHaveLength(chains.length);
    // A valid certificate is trusted, whatever comes with it.
    expect(own[1]?.replaceAll(/\d+/g, 'n')).toBe(own[0]?.replaceAll(/\d+/g, 'n'));
  }
});

onlyInLong(test)('commands survive them', async () => {
  const server = await startTlsServer(withImpostor);
  const environment = {
    HOMEPORT_API_URL: `https://localhost:${server.port}`,
    HOMEPORT_API_CREDENTIAL: 'name:password',
    HOMEPORT_API_CA: authorityFile,
    XDG_CONFIG_HOME: folder,
  };
  const { code, stderr } = await run(environment, 'api', 'list-sites');
  await server.remove();
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^homeport: /) });
});

onlyInLong(test)(
  'a server survives the upload of such a certificate, and a domain that leads to one',
  async () => {
    const deadly = odd.find(({ name }) => name === 'curve brainpoolP256r1');
    const [place, edge, resolver] = await Promise.all([
      databasePlace(),
      freePort(),
      startFakeDnsServer(leadAway),
    ]);
    const server = await serve(
      await environmentFor(place, {
        HOMEPORT_EDGE_HTTPS: `127.0.0.1:${edge}`,
        HOMEPORT_RESOLVERS: `127.0.0.1:${resolver.port}`,
        HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
        HOMEPORT_ACME_CA: authorityFile,
      }),
    );
    const elsewhere = await startTlsServer(
      { chain: deadly?.pem ?? '', key: deadly?.key ?? '' },
      {
        address: ELSEWHERE,
        port: edge,
      },
    );
    try {
      const secrets = readFileSync(join(place.settings.dataDir, 'first-sign-in.txt'), 'utf8');
      const printed = `${server.stdout()}\n${secrets}`;
      const value = (name: string) => new RegExp(`^ {2}${name} +(\\S.*)$`, 'm').exec(printed)?.[1] ?? '';
      const agent = createAgent(readFileSync(join(place.settings.dataDir, 'tls/api.crt'), 'utf8'));
      const [origin] = value('API').split('/v1');
      const client = createClient(
        { origin: origin ?? '', agent, conformance: () => undefined },
        { username: value('Username'), password: value('Password') },
      );
      const created = await client.post('/installs', { name: 'odd', account_id: value('Account') });
      const path = `/installs/${text(created.body, 'id')}`;

      const upload = { certificate: deadly?.pem, private_key: usual.key };
      expect(await client.post(`${path}/ssl_certificates/third_party`, upload)).toMatchObject({
        status: 400,
        body: { errors: [{ code: 'weak_key', message: expect.stringContaining('brainpoolP256r1') }] },
      });

      const domain = text((await client.post(`${path}/domains`, { name: 'localhost.example' })).body, 'id');
      const asked = await client.post(`${path}/domains/${domain}/check_status`);
      const report = `${path}/domains/check_status/${text(asked.body, 'report_id')}`;
      const complete = async () => field((await client.get(report)).body, 'report', 'complete');
      await expect.poll(complete).toBe(true);
      expect((await client.get(report)).body).toMatchObject({
        report: { domains: [{ ssl: { common_name: 'localhost', issuer: 'Odd Authority' } }] },
      });
      expect(server.stderr()).not.toContain('did not survive');
      await agent.close();
    } finally {
      server.process.kill('SIGTERM');
      expect(await server.ended).toMatchObject({ code: 0 });
      await Promise.all([elsewhere.remove(), resolver.close()]);
      await place.remove();
    }
  },
);

const ELSEWHERE = '127.0.0.9';

/** Every name leads to another server. */
function leadAway(query: Query): Buffer[] {
  return [reply(query, query.type === 'A' ? [{ type: 'A', name: query.name, data: ELSEWHERE }] : [])];
}
