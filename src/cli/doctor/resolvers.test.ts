import { afterEach, expect, test } from 'vitest';
import { freePort } from '../../../test/servers/free-port.ts';
import type { DnsServer } from '../../network/dns/client.ts';
import {
  type Behaviour,
  type FakeDnsServer,
  NXDOMAIN,
  REFUSED,
  reply,
  startFakeDnsServer,
} from '../../network/dns/fake-dns-server.fixture.ts';
import { checkResolvers } from './resolvers.ts';

let servers: FakeDnsServer[] = [];
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  servers = [];
});

async function server(behaviour: Behaviour): Promise<DnsServer> {
  const started = await startFakeDnsServer(behaviour);
  servers.push(started);
  return { host: started.host, port: started.port };
}

const answering = () => server((query) => [reply(query)]);
const refusing = () => server((query) => [reply(query, [], REFUSED)]);
const mute = () => server(() => []);
const closed = async () => ({ host: '127.0.0.1', port: await freePort() });

const configured = (...resolvers: DnsServer[]) => checkResolvers({ resolvers }, () => []);
const ofTheSystem = (...system: DnsServer[]) => checkResolvers({ resolvers: null }, () => system);

test('every one answers, if only that there is no such name', async () => {
  const [one, other] = [await answering(), await server((query) => [reply(query, [], NXDOMAIN)])];
  expect(await configured(one, other)).toMatchObject({
    check: 'resolvers',
    state: 'ok',
    message: `127.0.0.1:${one.port}, 127.0.0.1:${other.port} answer.`,
  });
  expect(await ofTheSystem(one)).toMatchObject({ state: 'ok', message: `127.0.0.1:${one.port} answers.` });
});

test('one that is configured is asked in place of those of the system', async () => {
  const system = await startFakeDnsServer((query) => [reply(query)]);
  servers.push(system);
  const resolvers = [await answering()];
  expect(await checkResolvers({ resolvers }, () => [system])).toMatchObject({ state: 'ok' });
  expect(system.queries).toEqual([]);
});

test('some answer: a warning that names the others', async () => {
  const [good, bad] = [await answering(), await refusing()];
  expect(await configured(good, bad)).toMatchObject({
    state: 'warning',
    message: `Of 2 DNS servers 1 cannot be used: 127.0.0.1:${bad.port} answers REFUSED.`,
    remedy: expect.stringContaining('HOMEPORT_RESOLVERS'),
  });
  expect(await ofTheSystem(good, bad)).toMatchObject({
    state: 'warning',
    remedy: expect.stringContaining('/etc/resolv.conf'),
  });
});

test('none answers: a problem where they are configured, else a warning; each with its reason, within 2 s', async () => {
  const [refuses, silent, gone] = [await refusing(), await mute(), await closed()];
  const speaksOther = await server(() => [Buffer.from('HTTP/1.1 400')]);
  const [problem, warning] = await Promise.all([
    configured(refuses, silent, gone, speaksOther),
    ofTheSystem(refuses, silent),
  ]);
  expect(problem).toMatchObject({ state: 'problem', remedy: expect.stringContaining('HOMEPORT_RESOLVERS') });
  expect(problem.message).toContain(
    `: 127.0.0.1:${refuses.port} answers REFUSED; 127.0.0.1:${silent.port} does not answer within 2 s; ` +
      `127.0.0.1:${gone.port} cannot be reached (ECONNREFUSED); ` +
      `what answers at 127.0.0.1:${speaksOther.port} does not speak DNS.`,
  );
  expect(warning).toMatchObject({ state: 'warning', message: expect.stringContaining('No DNS server') });
});

test('the system has none', async () => {
  expect(await ofTheSystem()).toMatchObject({
    state: 'warning',
    message: 'No DNS server of this machine can be used.',
  });
});
