import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { createQuestionSocket, type QuestionSocket } from '../machine/question-socket.ts';
import { LONGEST_MESSAGE, parsePurgeMessage } from './purge-message.ts';
import type { PurgeQueue } from './purge-queue.ts';

/** A socket for each install, where its WordPress purges its own pages. The socket's place identifies the install. */
export interface PurgeSockets {
  /** Starts listening if needed. The install's folders must exist. */
  open(install: { id: string; gid: number }): Promise<void>;
  isOpen(installId: string): Promise<boolean>;
  /** Succeeds if it is not open. */
  close(installId: string): Promise<void>;
  /** Closes all. */
  stop(): Promise<void>;
}

export interface PurgeSocketsOptions {
  layout: Pick<LinuxLayout, 'purgeSocketOf'>;
  queue: PurgeQueue;
  clock: Clock;
  log: Logger;
}

/** More than an install's PHP processes and logins. */
const AT_ONCE = 64;
/** Connections of an install in a second; with more, its socket is closed for a second. */
const MOST_A_SECOND = 50;

interface Entry {
  socket: QuestionSocket;
  /** Set while the socket is closed because of too many connections. */
  reopening: NodeJS.Timeout | null;
}

export function createPurgeSockets({ layout, queue, clock, log }: PurgeSocketsOptions): PurgeSockets {
  const entries = new Map<string, Entry>();

  function makeEntry(id: string, gid: number): Entry {
    let second = 0;
    let connections = 0;
    const socket = createQuestionSocket({
      path: layout.purgeSocketOf(id),
      access: { uid: process.getuid?.() ?? 0, gid, mode: 0o660 },
      purpose: 'purge of pages',
      limits: { characters: LONGEST_MESSAGE, atOnce: AT_ONCE },
      admits() {
        const now = Math.floor(clock.now().getTime() / SECOND_MS);
        if (now !== second) [second, connections] = [now, 0];
        connections += 1;
        if (connections > MOST_A_SECOND) shut(id, entry);
        return connections <= MOST_A_SECOND;
      },
      async answer(line) {
        const pages = parsePurgeMessage(line);
        if (pages === null) {
          log.debug({ install: id }, 'ignored a malformed message about purged pages');
          return null;
        }
        await queue.ask(id, pages);
        return 'ok\n';
      },
      log,
    });
    const entry: Entry = { socket, reopening: null };
    return entry;
  }

  /** A website that connects without end must not occupy this process. */
  function shut(id: string, entry: Entry): void {
    if (entry.reopening !== null || entries.get(id) !== entry) return;
    log.warn({ install: id }, 'too many messages about purged pages; pausing for a second');
    const timer = setTimeout(() => {
      reopen(id, entry).catch((err: unknown) =>
        log.error({ err, install: id }, 'could not listen for purges again'),
      );
    }, SECOND_MS);
    entry.reopening = timer.unref();
    void entry.socket.close();
  }

  async function reopen(id: string, entry: Entry): Promise<void> {
    entry.reopening = null;
    if (entries.get(id) !== entry) return;
    await entry.socket.open();
    // Closed for good in the meantime.
    if (entries.get(id) !== entry) return entry.socket.close();
    // Instead of the messages that were lost.
    await queue.ask(id, 'everything');
  }

  async function close(id: string): Promise<void> {
    const entry = entries.get(id);
    if (entry === undefined) return;
    entries.delete(id);
    if (entry.reopening !== null) clearTimeout(entry.reopening);
    await entry.socket.close();
    queue.forget(id);
  }

  return {
    async open({ id, gid }) {
      const entry = entries.get(id) ?? makeEntry(id, gid);
      entries.set(id, entry);
      if (entry.reopening === null) await entry.socket.open();
    },
    async isOpen(id) {
      const entry = entries.get(id);
      return entry !== undefined && (entry.reopening !== null || (await entry.socket.isOpen()));
    },
    close,
    stop: async () => void (await Promise.all([...entries.keys()].map(close))),
  };
}
