import { stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { type AppendMailLog, mailLogEntry } from '../../policy/mail/mail-log.ts';
import type { QueueFile, StoredMessage } from './queue-file.ts';
import { type Relay, RelayFault, type Verdict } from './relay.ts';

/** Delivers due messages, fairly between installs. */
export interface Deliveries {
  start(): void;
  /** Starts no more deliveries and lets those in progress finish for a few seconds. */
  stop(): Promise<void>;
  /** Looks for due messages. */
  wake(): void;
  /** Ends a pause after a fault of the relay. */
  resume(): void;
  /** Why the relay cannot be used; null if it can. */
  fault(): string | null;
  /** Ids of the messages that are being delivered. */
  active(): ReadonlySet<string>;
}

export interface DeliveriesOptions {
  queue(): QueueFile;
  relay: Relay | null;
  /** File with the content of a message. */
  pathOf(id: string): string;
  appendLog: AppendMailLog;
  drop(id: string): Promise<void>;
  clock: Clock;
  log: Logger;
}

/** RFC 5321 section 4.5.4.1 suggests 4 to 5 days, but links in mails of websites expire earlier. */
export const EXPIRES_MS = 3 * DAY_MS;
/** Connections to the relay, and how many of them one install may use. */
const AT_ONCE = 8;
const AT_ONCE_FOR_INSTALL = 2;
/** The host looks at least this often, because the clock can jump. */
const LOOK_MS = MINUTE_MS;
const GRACE_MS = 5 * SECOND_MS;
const LONGEST_PAUSE_MS = 5 * MINUTE_MS;

export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { queue, relay, pathOf, appendLog, drop, clock, log } = options;
  const active = new Map<string, { install: string; done: Promise<void> }>();
  /** When each install had its last delivery, as a count of deliveries. */
  const turns = new Map<string, number>();
  let turn = 0;
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let fault: { reason: string; count: number; until: number } | null = null;

  const now = () => clock.now().getTime();

  function wake(): void {
    if (!isRunning) return;
    try {
      look();
    } catch (err) {
      log.error({ err }, 'could not read the mail queue');
    }
    clearTimeout(timer);
    timer = setTimeout(wake, sleepMs());
    timer.unref();
  }

  function sleepMs(): number {
    const next = Math.max(queue().nextDue() ?? Number.POSITIVE_INFINITY, fault?.until ?? 0);
    // A due message waits for a free connection, whose end wakes this.
    return Math.min(LOOK_MS, Math.max(SECOND_MS, next - now()));
  }

  function look(): void {
    for (const message of queue().olderThan(now() - EXPIRES_MS)) {
      if (!active.has(message.id)) begin(message, () => expire(message));
    }
    if (relay === null || (fault !== null && now() < fault.until)) return;
    while (active.size < AT_ONCE) {
      // After a fault, one message tries whether the relay works again.
      if (fault !== null && active.size > 0) return;
      const message = nextMessage();
      if (message === null) return;
      begin(message, () => deliver(relay, message));
    }
  }

  /** The due message of the install that has waited longest for a turn. */
  function nextMessage(): StoredMessage | null {
    const inUse = new Map<string, number>();
    for (const { install } of active.values()) inUse.set(install, (inUse.get(install) ?? 0) + 1);
    const candidates = queue()
      .dueInstalls(now())
      .filter((id) => (inUse.get(id) ?? 0) < AT_ONCE_FOR_INSTALL)
      .sort((a, b) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0));
    for (const id of candidates) {
      const due = queue().due(id, now(), AT_ONCE_FOR_INSTALL + 1);
      const free = due.find((message) => !active.has(message.id));
      if (free !== undefined) return free;
    }
    return null;
  }

  function begin(message: StoredMessage, work: () => Promise<void>): void {
    const install = message.install.id;
    turn += 1;
    turns.set(install, turn);
    const done = work()
      .catch((err: unknown) => {
        log.error({ err, message: message.id, install }, 'the delivery of a message failed');
        retryLater(message, message.recipients, messageOf(err));
      })
      .catch((err: unknown) => log.error({ err }, 'could not write the mail queue'))
      .finally(() => {
        active.delete(message.id);
        if (!isRunning) return;
        if (queue().waiting(install).messages === 0) turns.delete(install);
        wake();
      });
    active.set(message.id, { install, done });
  }

  async function deliver(server: Relay, message: StoredMessage): Promise<void> {
    const path = pathOf(message.id);
    if ((await ifThere(stat(path))) === null) return giveUp(message, 'its content is lost');
    let verdicts: Verdict[];
    try {
      verdicts = await server.deliver({ ...message, path });
    } catch (error) {
      if (!(error instanceof RelayFault)) throw error;
      return pause(error.message);
    }
    if (fault !== null) log.info({ relay: server.address }, 'the mail relay works again');
    fault = null;
    await settle(message, verdicts);
  }

  /** The message is delivered again to those only who can still get it. */
  async function settle(message: StoredMessage, verdicts: Verdict[]): Promise<void> {
    const deferred = verdicts.filter(({ outcome }) => outcome === 'deferred');
    if (deferred.length === 0) await drop(message.id);
    else retryLater(message, recipientsOf(deferred), deferred[0]?.reply ?? '');
    for (const outcome of ['sent', 'deferred', 'failed'] as const) {
      const those = verdicts.filter((verdict) => verdict.outcome === outcome);
      if (those.length === 0) continue;
      const recipients = recipientsOf(those);
      appendLog(
        message.install.id,
        mailLogEntry({ ...message, recipients }, outcome, those[0]?.reply ?? null),
      );
    }
  }

  function retryLater(message: StoredMessage, recipients: string[], reason: string): void {
    queue().defer(message.id, recipients, { at: now() + backoffMs(message.attempts), reason });
  }

  /** The fault is not the message's, so that no attempt counts and all other messages wait, too. */
  function pause(reason: string): void {
    const count = (fault?.count ?? 0) + 1;
    if (count === 1)
      log.warn({ relay: relay?.address, reason }, 'the mail relay cannot be used; messages wait');
    fault = {
      reason,
      count,
      until: now() + Math.min(LONGEST_PAUSE_MS, 5 * SECOND_MS * 2 ** Math.min(count, 10)),
    };
  }

  function expire(message: StoredMessage): Promise<void> {
    const last = message.reason ?? fault?.reason ?? 'the relay took no message';
    return giveUp(message, `not delivered within 3 days: ${last}`);
  }

  /** Logs it for the website's owner. A bounce by mail could hit a stranger whose address was forged. */
  async function giveUp(message: StoredMessage, reason: string): Promise<void> {
    await drop(message.id);
    appendLog(message.install.id, mailLogEntry(message, 'failed', reason));
  }

  return {
    start() {
      isRunning = true;
      wake();
    },
    async stop() {
      isRunning = false;
      clearTimeout(timer);
      const over = new AbortController();
      const finished = Promise.all([...active.values()].map(({ done }) => done)).finally(() => over.abort());
      await Promise.race([
        finished,
        wait(GRACE_MS, undefined, { signal: over.signal, ref: false }).catch(() => {}),
      ]);
    },
    wake,
    resume() {
      if (fault !== null) fault = { ...fault, until: now() };
      wake();
    },
    fault: () => fault?.reason ?? null,
    active: () => new Set(active.keys()),
  };
}

const recipientsOf = (verdicts: readonly Verdict[]) => verdicts.map(({ recipient }) => recipient);

/** 1 minute, then twice as long each time, up to 2 hours. */
function backoffMs(attempts: number): number {
  return Math.min(2 * HOUR_MS, MINUTE_MS * 2 ** Math.min(attempts, 10));
}
