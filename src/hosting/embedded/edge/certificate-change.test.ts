import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { InstallState, ServedCertificate } from '../../contract/install-state.ts';
import { certificateFor, siteState } from '../../policy/edge.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';

const NAME = 'shop.test';
const KEPT_ALIVE = 20;

let site: TestHost;
let install: InstallState;
let first: ServedCertificate;
let second: ServedCertificate;
beforeEach(async () => {
  site = await startHost();
  [first, second] = [await certificateFor(NAME), await certificateFor(NAME)];
  install = siteState('shop', [{ name: NAME, forceHttps: true, certificate: first }]);
  await site.host.apply(install);
  await site.write(install, 'index.html', 'shop');
  await site.host.purge(install, 'page');
});
afterEach(() => site.close());

/** Applies the second certificate. */
function renew(): Promise<unknown> {
  const hostnames = install.hostnames.map((hostname) => ({ ...hostname, certificate: second }));
  return site.host.apply({ ...install, hostnames });
}

const port = (): number => site.host.addresses?.edgeHttps.port ?? 0;

/** A visitor who trusts only that certificate. */
function trusting(certificate: ServedCertificate): ConnectionOptions {
  return { host: '127.0.0.1', port: port(), servername: NAME, ca: certificate.chain };
}

async function get(agent: Agent, path: string): Promise<IncomingMessage> {
  const asked = request({ host: '127.0.0.1', port: port(), path, agent, headers: { Host: NAME } });
  const [response] = await once(asked.end(), 'response');
  return response;
}

interface Visited {
  /** The connection resumed an earlier session, without a certificate. */
  resumed: boolean;
  /** The latest session ticket received. */
  session: Buffer;
}

/** One request on a new connection. */
async function visit(options: ConnectionOptions): Promise<Visited> {
  const socket = tlsConnect(options);
  let session = options.session;
  socket.on('session', (ticket: Buffer) => {
    session = ticket;
  });
  await once(socket, 'secureConnect');
  const resumed = socket.isSessionReused();
  socket.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\nConnection: close\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*shop$/s);
  if (session === undefined) throw new Error('the edge sent no session ticket');
  return { resumed, session };
}

test('a new certificate is served at once, and open connections stay open', async () => {
  const agents = Array.from(
    { length: KEPT_ALIVE },
    () => new Agent({ ...trusting(first), keepAlive: true, maxSockets: 1 }),
  );
  const sockets = new Set<unknown>();
  const visitAll = () =>
    Promise.all(
      agents.map(async (agent) => {
        const response = await get(agent, '/');
        sockets.add(response.socket);
        expect(await text(response)).toBe('shop');
      }),
    );
  await visitAll();

  const content = randomBytes(24 * 1024 * 1024);
  await site.write(install, 'long.bin', content);
  const downloading = new Agent(trusting(first));
  const download = await get(downloading, '/long.bin');
  const chunks = download[Symbol.asyncIterator]();
  const received: Buffer[] = [(await chunks.next()).value];

  // Some requests are in progress while the certificates change.
  const [, during] = await Promise.all([renew(), visitAll()]);
  expect(during).toHaveLength(KEPT_ALIVE);
  await visitAll();
  expect(sockets.size).toBe(KEPT_ALIVE);

  await visit(trusting(second));
  await expect(visit(trusting(first))).rejects.toThrow(/self-signed certificate|unable to verify/);

  for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) received.push(chunk);
  expect(Buffer.concat(received).equals(content)).toBe(true);
  for (const agent of [...agents, downloading]) agent.destroy();
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  '%s: a session can be resumed after the change',
  async (version) => {
    const only = { minVersion: version, maxVersion: version };
    const before = await visit({ ...trusting(first), ...only });
    expect(before.resumed).toBe(false);
    await renew();
    expect((await visit({ ...trusting(first), ...only, session: before.session })).resumed).toBe(true);

    // A new session gets the new certificate and can be resumed later.
    const anew = await visit({ ...trusting(second), ...only });
    expect(anew.resumed).toBe(false);
    expect((await visit({ ...trusting(second), ...only, session: anew.session })).resumed).toBe(true);
  },
);

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  '%s: a session of one name cannot be resumed for another',
  async (version) => {
    const only = { minVersion: version, maxVersion: version };
    const other = await certificateFor('other.test');
    await site.host.apply(siteState('other', [{ name: 'other.test', certificate: other }]));
    const { session } = await visit({ ...trusting(first), ...only });
    const socket = tlsConnect({ ...trusting(other), ...only, servername: 'other.test', session });
    await once(socket, 'secureConnect');
    expect(socket.isSessionReused()).toBe(false);
    expect(socket.getPeerCertificate().subject.CN).toBe('other.test');
    socket.destroy();
  },
);
