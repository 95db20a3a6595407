import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/database.ts';
import { freePort } from '../../../test/servers/free-port.ts';
import { readConfig } from '../../config/config.ts';
import { createSelfSigned } from '../../lib/certificates/self-signed-certificate.ts';
import { checkApiPort, checkHostingPorts } from './ports.ts';

let folder: ReturnType<typeof temporaryFolder>;
const servers: Server[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  folder.remove();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

const pair = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
const answersWith = (status: number) =>
  createHttpsServer({ cert: pair.chain, key: pair.key }, (_request, response) =>
    response.writeHead(status).end(),
  );
/** Reads on, so that a visitor who is gone is noticed. */
const greets = (greeting: string) =>
  createServer((socket) =>
    socket
      .on('error', () => socket.destroy())
      .resume()
      .end(greeting),
  );
const hangsUp = () => greets('220 hello\r\n');

async function api(port: number, serverRuns = false) {
  const config = readConfig({ HOMEPORT_DATA_DIR: folder.path, HOMEPORT_LISTEN: `127.0.0.1:${port}` });
  return checkApiPort(config, serverRuns);
}

describe("the API's address", () => {
  test('free: well without a server, a warning beside one', async () => {
    const port = await freePort();
    expect(await api(port)).toMatchObject({ state: 'ok', message: `127.0.0.1:${port} is free.` });
    expect(await api(port, true)).toMatchObject({ state: 'warning' });
    expect(await api(0)).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('lets the system choose the port'),
    });
  });

  test('a Homeport answers; with another certificate; without its database', async () => {
    const port = await listening(answersWith(200));
    expect(await api(port)).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('a certificate that differs'),
    });
    mkdirSync(join(folder.path, 'tls'));
    writeFileSync(join(folder.path, 'tls', 'api.crt'), pair.chain);
    expect(await api(port)).toMatchObject({ state: 'ok', message: `Answers on 127.0.0.1:${port}.` });
    expect(await api(await listening(answersWith(503)))).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('database'),
    });
  });

  test('something else is there', async () => {
    for (const server of [answersWith(404), hangsUp(), createHttpServer()]) {
      expect(await api(await listening(server))).toMatchObject({
        state: 'problem',
        message: expect.stringContaining('not this Homeport'),
        remedy: expect.stringContaining('HOMEPORT_LISTEN'),
      });
    }
  });

  test('an address that this machine does not have', async () => {
    const config = readConfig({ HOMEPORT_LISTEN: '192.0.2.1:8443' });
    expect(await checkApiPort(config, false)).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('does not have the address'),
    });
  });
});

describe('the addresses of the hosted sites', () => {
  const hosting = async (ports: [number, number, number], serverRuns: boolean) => {
    const [http, https, ssh] = ports.map((port) => `127.0.0.1:${port}`);
    const config = readConfig({
      HOMEPORT_EDGE_HTTP: http,
      HOMEPORT_EDGE_HTTPS: https,
      HOMEPORT_SSH_LISTEN: ssh,
    });
    return (await checkHostingPorts(config, serverRuns)).map(({ state }) => state);
  };

  test('answer, each in its protocol, where a server runs', async () => {
    const http = await listening(createHttpServer((_request, response) => response.writeHead(404).end()));
    const https = await listening(answersWith(404));
    const ssh = await listening(greets('SSH-2.0-x\r\n'));
    const other = await listening(hangsUp());
    const nobody = await freePort();
    expect(await hosting([http, https, ssh], true)).toEqual(['ok', 'ok', 'ok']);
    expect(await hosting([other, http, other], true)).toEqual(['problem', 'problem', 'problem']);
    expect(await hosting([nobody, nobody, nobody], true)).toEqual(['problem', 'problem', 'problem']);
    expect(await hosting([0, 0, 0], true)).toEqual(['ok', 'ok', 'ok']);
  });

  test('are free where none runs', async () => {
    const used = await listening(hangsUp());
    const free = await freePort();
    expect(await hosting([free, used, 0], false)).toEqual(['ok', 'problem', 'ok']);
  });
});
