import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { LISTED_MESSAGES } from '../../contract/choices.ts';
import type { MailQueueReport, MailSelection } from '../../contract/mail.ts';
import { type AppendMailLog, mailLogEntry } from '../../policy/mail/mail-log.ts';
import { createDeliveries } from './deliveries.ts';
import { type Exceeded, type NewMessage, openQueueFile, type QueueFile } from './queue-file.ts';
import type { Relay } from './relay.ts';

/** Messages of websites that wait for the relay, on disk. */
export interface MailQueue {
  readonly hasRelay: boolean;
  /** Opens the queue and starts to deliver. */
  start(): Promise<void>;
  /** Lets deliveries finish for a few seconds. */
  stop(): Promise<void>;
  /** Why no message can be queued now, for the website's owner; null if one can. */
  refusal(): Promise<string | null>;
  /** Where the content of a new message is written before {@link MailQueue.add}. */
  incomingPath(id: string): string;
  /** Queues a message whose content is at its incoming path, unless it exceeds a limit. It is on disk when this resolves. */
  add(message: NewMessage, perHour: number): Promise<Exceeded | null>;
  sentLastHour(installId: string): number;
  /**
   * Reserves place for a message that an install announces, until the returned function is called. Null if its waiting messages,
   * with those it is sending, would exceed their limits.
   */
  reserve(installId: string, bytes: number): (() => void) | null;
  waiting(installId: string): { messages: number; bytes: number };
  /** Deletes the messages and counts of a removed install. */
  removeInstall(installId: string): Promise<void>;
  report(selection: MailSelection): MailQueueReport;
  retry(selection: MailSelection): number;
  delete(selection: MailSelection): Promise<number>;
  /** Why the relay cannot be used, for `homeport doctor`; null if it can or there is none. */
  check(): Promise<string | null>;
}

export interface MailQueueOptions {
  /** Folder of root only. */
  folder: string;
  /** Null without a relay. */
  relay: Relay | null;
  appendLog: AppendMailLog;
  clock: Clock;
  log: Logger;
  /** Free bytes that the disk keeps. */
  keptFree?: number;
}

/** Limits of one install in the queue. */
export const MOST_WAITING = { messages: 1_000, bytes: 200 * 1024 * 1024 };

/** Websites and databases need the rest of the disk. */
const KEPT_FREE = 1024 * 1024 * 1024;

const QUEUE_FILE = 'queue.sqlite';
const MESSAGE = '.eml';

export function createMailQueue(options: MailQueueOptions): MailQueue {
  const { relay, appendLog, clock, log } = options;
  const folder = join(options.folder, 'messages');
  const pathOf = (id: string) => join(folder, `${id}${MESSAGE}`);
  const incomingPath = (id: string) => join(folder, `${id}.part`);
  let opened: QueueFile | null = null;
  const deliveries = createDeliveries({ queue: file, relay, pathOf, appendLog, drop, clock, log });

  /** Announced messages that are being written. */
  const reserved = new Map<symbol, { installId: string; bytes: number }>();

  function reserve(installId: string, bytes: number): (() => void) | null {
    const { messages, bytes: queued } = file().waiting(installId);
    const own = [...reserved.values()].filter((one) => one.installId === installId);
    const total = own.reduce((sum, one) => sum + one.bytes, queued + bytes);
    if (messages + own.length >= MOST_WAITING.messages || total > MOST_WAITING.bytes) return null;
    const key = Symbol(installId);
    reserved.set(key, { installId, bytes });
    return () => void reserved.delete(key);
  }

  function file(): QueueFile {
    if (opened === null) throw new Error('the mail queue is not open');
    return opened;
  }

  /** Removes a message that is delivered or given up. First from the index, so that no one sends it again. */
  async function drop(id: string): Promise<void> {
    file().remove(id);
    await rm(pathOf(id), { force: true });
  }

  /** An unusable queue is kept beside the new one, because websites do not depend on it. */
  async function openFile(): Promise<QueueFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      return openQueueFile(join(options.folder, QUEUE_FILE));
    } catch (err) {
      const aside = `${options.folder}.unusable-${clock.now().getTime()}`;
      log.error(
        { err, aside },
        'the mail queue is unusable; it was moved aside, and its messages are not sent',
      );
      await rename(options.folder, aside);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return openQueueFile(join(options.folder, QUEUE_FILE));
    }
  }

  /** Removes what a killed host left: content without an entry, and entries without content. */
  async function removeRemains(): Promise<void> {
    const known = new Set(file().ids());
    const present = new Set<string>();
    for (const name of await readdir(folder)) {
      const id = name.endsWith(MESSAGE) ? name.slice(0, -MESSAGE.length) : null;
      if (id !== null && known.has(id)) present.add(id);
      else await rm(join(folder, name), { force: true });
    }
    for (const id of known) {
      if (present.has(id)) continue;
      log.error({ message: id }, 'the content of a queued message is lost');
      file().remove(id);
    }
  }

  async function hasRoom(): Promise<boolean> {
    const { bavail, bsize } = await statfs(options.folder);
    const announced = [...reserved.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    return bavail * bsize - announced > (options.keptFree ?? KEPT_FREE);
  }

  return {
    hasRelay: relay !== null,
    async start() {
      opened = await openFile();
      await removeRemains();
      deliveries.start();
    },
    async stop() {
      await deliveries.stop();
      opened?.close();
      opened = null;
    },
    async refusal() {
      if (relay === null) return 'this host sends no mail, because its operator has configured no relay';
      if (opened === null) return 'the host does not accept mail now; try again in a minute';
      return (await hasRoom()) ? null : 'the disk of the host is full; try again later';
    },
    incomingPath,
    async add(message, perHour) {
      const path = pathOf(message.id);
      const content = await open(incomingPath(message.id), 'r+');
      try {
        await content.sync();
      } finally {
        await content.close();
      }
      await rename(incomingPath(message.id), path);
      await syncFolder(folder);
      const exceeded = file().add(message, { perHour, ...MOST_WAITING });
      if (exceeded !== null) {
        await rm(path, { force: true });
        return exceeded;
      }
      appendLog(message.install.id, mailLogEntry(message, 'queued', null));
      deliveries.wake();
      return null;
    },
    sentLastHour: (installId) => file().sentLastHour(installId, clock.now().getTime()),
    reserve,
    waiting: (installId) => file().waiting(installId),
    async removeInstall(installId) {
      for (const id of file().removeInstall(installId)) await rm(pathOf(id), { force: true });
    },
    report(selection) {
      const { messages, bytes, oldest } = file().total(selection);
      const iso = (time: number) => new Date(time).toISOString();
      return {
        relay: relay?.address ?? null,
        fault: deliveries.fault(),
        messages,
        bytes,
        oldest: oldest === null ? null : iso(oldest),
        listed: file()
          .selected(selection, LISTED_MESSAGES)
          .map(({ id, install, recipients, bytes: size, queuedAt, attempts, nextAt, reason }) => ({
            ...{ id, install, recipients: recipients.length, bytes: size },
            ...{ queuedAt: iso(queuedAt), attempts, nextAt: iso(nextAt), reason },
          })),
      };
    },
    retry(selection) {
      const count = file().makeDue(selection, clock.now().getTime());
      deliveries.resume();
      return count;
    },
    async delete(selection) {
      let count = 0;
      for (;;) {
        const found = file()
          .selected(selection, LISTED_MESSAGES + deliveries.active().size)
          .filter(({ id }) => !deliveries.active().has(id));
        for (const message of found) {
          await drop(message.id);
          appendLog(message.install.id, mailLogEntry(message, 'failed', 'deleted by the operator'));
        }
        count += found.length;
        if (found.length === 0) return count;
      }
    },
    async check() {
      if (relay === null) return null;
      try {
        await relay.verify();
        return null;
      } catch (error) {
        return `the mail relay ${relay.address} cannot be used: ${messageOf(error)}`;
      }
    },
  };
}
