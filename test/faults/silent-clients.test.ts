import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { environmentFor, type Running, serveWithin } from '../cli/run-homeport.ts';
import { type DatabasePlace, databasePlace } from '../database.ts';
import { rounds } from '../rounds.ts';
import { freePort } from '../servers/free-port.ts';
import { answerTo, connectSilently, type Dialogue, descriptorsOf, dialogues } from '../silent-clients.ts';

/** In the long tests that of a shell: the fewest that Homeport is likely to get. */
const DESCRIPTORS = rounds(512, 1_024);
/** To each of the four ports, from 20 addresses in turn. More than each of them takes. */
const COUNT = rounds(250, 500);
const ADDRESSES = Array.from({ length: 20 }, (_, index) => `127.0.1.${index + 1}`);
/** The last of a server's connections may be one that is being closed. */
const MARGIN = 10;
const FEW = { count: 20, addresses: ADDRESSES };
const KEPT_ALIVE = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe.runIf(process.platform === 'linux')('clients that connect and say nothing', () => {
  let place: DatabasePlace;
  let server: Running;
  let pid = 0;
  let before = 0;
  let ports: [string, Dialogue][] = [];
  const silent: { end(): void }[] = [];

  beforeAll(async () => {
    place = await databasePlace();
    const [api, edgeHttp, edgeHttps, ssh] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ];
    server = await serveWithin(
      DESCRIPTORS,
      await environmentFor(place, {
        HOMEPORT_LISTEN: `127.0.0.1:${api}`,
        HOMEPORT_EDGE_HTTP: `127.0.0.1:${edgeHttp}`,
        HOMEPORT_EDGE_HTTPS: `127.0.0.1:${edgeHttps}`,
        HOMEPORT_SSH_LISTEN: `127.0.0.1:${ssh}`,
        HOMEPORT_RESOLVERS: '127.0.0.1:9',
      }),
    );
    pid = server.process.pid ?? 0;
    ports = Object.entries(dialogues({ api, edgeHttp, edgeHttps, ssh }));
    for (const [, dialogue] of ports) await answerTo(dialogue, '127.0.0.1');
    before = await descriptorsOf(pid);
  });
  afterAll(async () => {
    for (const clients of silent) clients.end();
    server.process.kill('SIGKILL');
    await server.ended;
    await place.remove();
  });

  test('take no more than half of the descriptors, keep no one else out, and leave none behind', async () => {
    for (const [, { port }] of ports) {
      silent.push(await connectSilently(port, { count: COUNT, addresses: ADDRESSES }));
    }
    expect(await descriptorsOf(pid)).toBeLessThanOrEqual(before + DESCRIPTORS / 2 + MARGIN);
    for (const [name, dialogue] of ports) {
      expect(await answerTo(dialogue, '127.0.0.9'), name).toMatch(dialogue.answer);
    }
    // One that asks for something once, and then keeps silent.
    for (const [name, { port }] of ports) {
      if (name === 'edge, HTTP') silent.push(await connectSilently(port, { ...FEW, says: KEPT_ALIVE }));
    }
    await expect
      .poll(() => descriptorsOf(pid), { timeout: 90_000, interval: 200 })
      .toBeLessThanOrEqual(before + MARGIN);
  });
});
