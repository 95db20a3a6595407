import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SMTPServer } from 'smtp-server';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { afterAll, expect, test } from 'vitest';
import { run } from '../cli/run-homeport.ts';
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

test('the program survives them', async () => {
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
