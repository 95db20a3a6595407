import { once } from 'node:events';
import { chmod, chown, rm, stat } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import type { Randomness } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { type AppendMailLog, mailLogEntry } from '../../policy/mail/mail-log.ts';
import { reasonKey } from '../../policy/mail/refusals.ts';
import { createWaitingRoom, type WaitingRoom } from '../../policy/waiting-room.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { MailQueue } from './mail-queue.ts';
import {
  type Announcement,
  acceptMessage,
  LONGEST_ANNOUNCEMENT,
  parseAnnouncement,
  requireAcceptable,
  SubmissionRefused,
  type Submitter,
} from './submission.ts';

/** A socket for each install, where its sendmail hands over messages. The socket's place identifies the install. */
export interface MailSockets {
  /** Starts listening if needed. The install's folders must exist. */
  open(install: { id: string; name: string; gid: number }): Promise<void>;
  isOpen(installId: string): Promise<boolean>;
  /** Succeeds if it is not open. */
  close(installId: string): Promise<void>;
  /** Closes all. */
  stop(): Promise<void>;
}

export interface MailSocketsOptions {
  layout: Pick<LinuxLayout, 'mailSocketOf'>;
  queue: Pick<MailQueue, 'refusal' | 'sentLastHour' | 'reserve' | 'incomingPath' | 'add'>;
  /** The envelope sender and the limit of an install. */
  submitterOf(install: { id: string; name: string }): Submitter;
  /** Whether the name is that of a temporary copy, which must not send. */
  isTrial(installName: string): boolean;
  appendLog: AppendMailLog;
  clock: Clock;
  random: Pick<Randomness, 'uuid'>;
  log: Logger;
}

/** Connections of an install that send a message, and for how long. */
const AT_ONCE = 32;
const SEND_WITHIN_MS = MINUTE_MS;
/** Connections of an install in a second; with more, the others fail. */
const MOST_A_SECOND = 50;
const SOFTWARE = 70;

interface Entry {
  server: Server;
  sockets: Set<Socket>;
  /** Connections in the present second. */
  second: number;
  connections: number;
  /** When a refusal for each reason was last logged. */
  logged: Map<string, number>;
}

export function createMailSockets(options: MailSocketsOptions): MailSockets {
  const { layout, queue, submitterOf, isTrial, appendLog, clock, random, log } = options;
  const entries = new Map<string, Entry>();

  function listen(install: { id: string; name: string }): Entry {
    const room = createWaitingRoom({ most: AT_ONCE, withinMs: SEND_WITHIN_MS });
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      if (!admits(entry)) return void socket.destroy();
      sockets.add(socket);
      room.enter(socket);
      // The sender may be gone before the answer.
      socket.on('error', (err) =>
        log.debug({ err, install: install.id }, 'a connection that sends mail failed'),
      );
      socket.on('close', () => sockets.delete(socket));
      void serve(socket, room, install, entry);
    });
    const entry: Entry = { server, sockets, second: 0, connections: 0, logged: new Map() };
    return entry;
  }

  /** A website that connects without end must not occupy this process. */
  function admits(entry: Entry): boolean {
    const now = Math.floor(clock.now().getTime() / SECOND_MS);
    if (now !== entry.second) [entry.second, entry.connections] = [now, 0];
    entry.connections += 1;
    return entry.connections <= MOST_A_SECOND;
  }

  async function serve(
    socket: Socket,
    room: WaitingRoom,
    install: { id: string; name: string },
    entry: Entry,
  ): Promise<void> {
    let announced: Announcement | null = null;
    let release: (() => void) | null = null;
    try {
      const reader = socket.iterator({ destroyOnReturn: false });
      const { line, rest } = await readLine(reader);
      announced = parseAnnouncement(line);
      if (announced === null) return void socket.destroy();
      if (isTrial(install.name)) throw new SubmissionRefused(69, 'a copy for a restore check sends no mail');
      const submitter = submitterOf(install);
      release = await requireAcceptable(queue, announced, submitter);
      socket.write('go\n');
      const content = received(reader, rest, announced.bytes, () => room.leave(socket));
      await acceptMessage(queue, announced, submitter, { id: random.uuid(), date: clock.now(), content });
      socket.end('0 queued\n');
    } catch (error) {
      if (socket.destroyed) return;
      socket.end(`${answerOf(error, install.id)}\n`);
      if (error instanceof SubmissionRefused) logRefusal(install, announced, error.message, entry);
    } finally {
      release?.();
    }
  }

  function answerOf(error: unknown, installId: string): string {
    if (error instanceof SubmissionRefused) {
      if (error.cause !== undefined)
        log.error({ err: error.cause, install: installId }, 'could not queue a message');
      return `${error.code} ${error.message}`;
    }
    log.error({ err: error, install: installId }, 'could not take a message');
    return `${SOFTWARE} the host failed; try again in a minute`;
  }

  /** Each reason once a minute: a website in a loop must not fill its log. */
  function logRefusal(
    install: { id: string; name: string },
    announced: Announcement | null,
    reason: string,
    { logged }: Entry,
  ): void {
    const now = clock.now().getTime();
    for (const [key, at] of logged) if (now - at >= MINUTE_MS) logged.delete(key);
    const key = reasonKey(reason);
    if (logged.has(key)) return;
    logged.set(key, now);
    const { bytes = null, recipients = [] } = announced ?? {};
    const { sender } = submitterOf(install);
    appendLog(install.id, mailLogEntry({ id: null, sender, recipients, bytes }, 'refused', reason));
  }

  async function close(id: string): Promise<void> {
    const entry = entries.get(id);
    if (entry === undefined) return;
    entries.delete(id);
    const closed = once(entry.server, 'close');
    entry.server.close();
    for (const socket of entry.sockets) socket.destroy();
    await closed;
  }

  const isThere = async (id: string) => (await ifThere(stat(layout.mailSocketOf(id))))?.isSocket() === true;

  return {
    async open(install) {
      const { id, gid } = install;
      if (entries.has(id) && (await isThere(id))) return;
      await close(id);
      const path = layout.mailSocketOf(id);
      await rm(path, { force: true });
      const entry = listen(install);
      entry.server.listen(path);
      await once(entry.server, 'listening');
      entry.server.on('error', (err) => log.error({ err, install: id }, 'the socket for mail failed'));
      entries.set(id, entry);
      // Connecting needs write permission, which only root has until then.
      await chown(path, process.getuid?.() ?? 0, gid);
      await chmod(path, 0o660);
    },
    isOpen: async (id) => entries.has(id) && (await isThere(id)),
    close,
    stop: async () => void (await Promise.all([...entries.keys()].map(close))),
  };
}

type Reader = NodeJS.AsyncIterator<Buffer>;

async function readLine(reader: Reader): Promise<{ line: string; rest: Buffer }> {
  let text = Buffer.alloc(0);
  for (;;) {
    const { value, done } = await reader.next();
    if (done === true) throw new Error('the connection ended before the announcement');
    text = Buffer.concat([text, value]);
    const end = text.indexOf('\n');
    if (end !== -1) return { line: text.toString('utf8', 0, end), rest: text.subarray(end + 1) };
    if (text.length > LONGEST_ANNOUNCEMENT) throw new Error('the announcement is too long');
  }
}

/** The parts of a message, until it has as many bytes as announced. */
async function* received(
  reader: Reader,
  rest: Buffer,
  bytes: number,
  onWhole: () => void,
): AsyncGenerator<Buffer> {
  let left = bytes;
  for (let part = rest; ; ) {
    left -= part.length;
    if (left <= 0) onWhole();
    if (part.length > 0) yield part;
    if (left <= 0) return;
    const { value, done } = await reader.next();
    if (done === true) return;
    part = value;
  }
}
