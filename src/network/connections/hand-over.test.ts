import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../test/servers/free-port.ts';

const SERVER = join(import.meta.dirname, 'handed-over-server.fixture.ts');
const RESTARTS = 3;
/** Each client sends one request after the other. */
const CLIENTS = 8;

/**
 * What systemd does for a socket unit: it holds three listening sockets without accepting, and starts a program with them. SIGHUP restarts the
 * program as `systemctl restart` does, and SIGTERM ends both.
 */
const SERVICE_MANAGER = `
use Socket;
my ($ports, @command) = @ARGV;
# The last descriptor that programs inherit.
$^F = 5;
my @sockets;
for my $port (split /,/, $ports) {
  socket(my $socket, PF_INET, SOCK_STREAM, 0) or die $!;
  setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1);
  bind($socket, sockaddr_in($port, inet_aton('127.0.0.1'))) && listen($socket, 511) or die $!;
  die 'a descriptor is not the next one' if fileno($socket) != 3 + @sockets;
  push @sockets, $socket;
}
my ($pid, $stop);
$SIG{HUP} = sub { kill 'TERM', $pid };
$SIG{TERM} = sub { $stop = 1; kill 'KILL', $pid };
until ($stop) {
  $pid = fork;
  if (!$pid) {
    $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = scalar @sockets;
    exec @command;
  }
  waitpid $pid, 0;
}
`;

let manager: ChildProcess;
let plain = 0;
let secure = 0;
/** A socket that the server has no setting for. */
let other = 0;
/** The line of each start of the server. */
const starts: string[] = [];

beforeAll(async () => {
  [plain, secure, other] = [await freePort(), await freePort(), await freePort()];
  const command = [process.execPath, SERVER, String(plain), String(secure)];
  manager = spawn('perl', ['-e', SERVICE_MANAGER, `${plain},${secure},${other}`, ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (manager.stdout === null) throw new Error('the service manager has no output');
  const lines = createInterface(manager.stdout).on('line', (line) => {
    starts.push(line);
  });
  await once(lines, 'line');
});
afterAll(async () => {
  const ended = once(manager, 'exit');
  manager.kill('SIGTERM');
  await ended;
});

/** Sends requests until `isOver`, one after the other, and adds the processes that answer to `seen`. A failed request fails the test. */
type Client = (seen: Set<string>, isOver: () => boolean) => Promise<void>;

const overHttp1 =
  (request: typeof httpRequest | typeof httpsRequest, agent: Agent | null, port: () => number): Client =>
  async (seen, isOver) => {
    const own = agent === null ? false : agent;
    while (!isOver()) {
      const sent = request({ host: '127.0.0.1', port: port(), agent: own, rejectUnauthorized: false });
      sent.on('error', () => {}).end();
      const [response] = await once(sent, 'response');
      seen.add(await text(response));
    }
  };

const overHttp2: Client = async (seen, isOver) => {
  let session: ClientHttp2Session | null = null;
  while (!isOver()) {
    if (session === null || session.closed || session.destroyed) {
      session = connect(`https://127.0.0.1:${secure}`, { rejectUnauthorized: false });
      const current = session;
      session.on('goaway', () => current.close());
    }
    const stream = session.request({ ':path': '/' });
    const answer = await text(stream).catch((error: unknown) => {
      // RFC 9113, section 8.7: nothing was done for such a request, and every browser repeats it.
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return null;
      throw error;
    });
    if (answer !== null) seen.add(answer);
  }
  session?.close();
};

it('loses no request over restarts whose sockets the service manager holds', async () => {
  const alive = () => new Agent({ keepAlive: true, maxSockets: 1 });
  const aliveSecurely = () => new SecureAgent({ keepAlive: true, maxSockets: 1 });
  const clients = Array.from({ length: CLIENTS }).flatMap(() => [
    overHttp1(httpRequest, alive(), () => plain),
    overHttp1(httpRequest, null, () => plain),
    overHttp1(httpsRequest, aliveSecurely(), () => secure),
    overHttp2,
  ]);
  const seen = new Set<string>();
  let isOver = false;
  const answered = Promise.all(clients.map((client) => client(seen, () => isOver)));
  for (let restart = 0; restart <= RESTARTS; restart++) {
    if (restart > 0) manager.kill('SIGHUP');
    await Promise.race([expect.poll(() => seen.size).toBe(1 + restart), answered]);
  }
  isOver = true;
  await answered;
  expect(starts).toEqual(Array.from({ length: 1 + RESTARTS }, () => `ready, without 127.0.0.1:${other}`));
});
