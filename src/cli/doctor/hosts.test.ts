import { once } from 'node:events';
import { createServer } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { type ServedMachine, serveMachine } from '../../hosting/remote/embedded-machine.fixture.ts';
import { parseIdentity } from '../../hosting/remote/identity.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { askHost } from '../platform/ask-host.ts';
import { examineHosts } from './hosts.ts';

let homeport: TestHomeport;
let machine: ServedMachine;
const servers: { close(): unknown }[] = [];

/** Takes commands, shows that it lives, and never ends one; `described`: but for telling who it is. */
async function hanging(name: string, described: object | null): Promise<void> {
  const port = await freePort();
  const { host, identity } = await homeport.services.hosts.add(name, `https://127.0.0.1:${port}`);
  const { certificate, key, ca } = parseIdentity(identity);
  const server = createServer({ cert: certificate, key, ca, requestCert: true }, (request, response) => {
    response.writeHead(200);
    if (described !== null && request.url === '/v1/describe') {
      return response.end(JSON.stringify({ result: { ...described, id: host.id } }));
    }
    const beat = setInterval(() => response.write('\n'), 20);
    response.once('close', () => clearInterval(beat));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
}

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  machine = await serveMachine();
  const port = await freePort();
  const { identity } = await homeport.services.hosts.add('well', `https://127.0.0.1:${port}`);
  await machine.listenTls(parseIdentity(identity), port);
  await hanging('silent', null);
  await hanging('stuck', machine.description);
});
afterAll(async () => {
  for (const server of servers) server.close();
  await homeport?.remove();
  await machine?.close();
});

it('reports a machine that hangs and inspects the others', async () => {
  const { platform, services } = homeport;
  const findings = await examineHosts(platform, services, false, { describe: 1_500, inspect: 2_500 });
  const sentence = (name: string, seconds: string) =>
    `The inspection failed: The host ${name} does not answer: it has not finished within ${seconds} s. Look at its log.`;
  expect(findings.map(({ check, state, message }) => ({ check, state, message }))).toEqual([
    { check: 'well', state: 'ok', message: 'All matches the desired state, 0 installs.' },
    { check: 'silent', state: 'problem', message: sentence('silent', '1.5') },
    { check: 'stuck', state: 'problem', message: sentence('stuck', '2.5') },
  ]);
});

it('reports a hanging machine without a stack trace', async () => {
  const target = await homeport.services.hosts.target('silent');
  const removed = askHost(target, (remote) => remote.remove({ id: machine.description.id, name: 'shop' }), {
    describe: 300,
  });
  await expect(removed).rejects.toThrow(OperatorError);
  await expect(removed).rejects.toThrow(/^The host silent does not answer: .* within 0\.3 s/);
});

it('warns that recovery points are on the disk of the websites', async () => {
  const { platform, services } = homeport;
  machine.places.isOnOwnDisk = true;
  const config = { ...platform.config, host: 'linux' as const, recoveryPointMinutes: 5 };
  const limits = { describe: 1_500, inspect: 2_500 };
  const warnings = async (settings: typeof platform.config) =>
    (await examineHosts({ ...platform, config: settings }, services, false, limits))
      .filter(({ state }) => state === 'warning')
      .map(({ check, message }) => [check, message]);
  expect(await warnings(config)).toEqual([
    [
      'well',
      'Backups and recovery points are in /backups, on the disk of the websites. They are lost with it.',
    ],
  ]);
  expect(await warnings({ ...config, recoveryPointMinutes: 0 })).toEqual([]);
});
