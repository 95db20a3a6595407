import Sqlite from 'better-sqlite3';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { MailSelection } from '../../contract/mail.ts';

/** A message in the queue. Times in milliseconds. */
export interface StoredMessage {
  /** UUID, also the name of the file with its content. */
  id: string;
  install: InstallRef;
  sender: string;
  /** Those that have not got it yet. */
  recipients: string[];
  bytes: number;
  queuedAt: number;
  attempts: number;
  nextAt: number;
  reason: string | null;
}

export type NewMessage = Omit<StoredMessage, 'attempts' | 'nextAt' | 'reason'>;

/** Limits of the messages of one install. */
export interface QueueLimits {
  /** Recipients in an hour. */
  perHour: number;
  /** Waiting messages, and their bytes together. */
  messages: number;
  bytes: number;
}

/** The limit that a message exceeds. */
export type Exceeded = keyof QueueLimits;

/** The index of the queue. A method that returns has written to the disk. */
export interface QueueFile {
  /** Adds a message, unless it exceeds a limit of its install. */
  add(message: NewMessage, limits: QueueLimits): Exceeded | null;
  /** Recipients of messages that were added in the last hour. */
  sentLastHour(installId: string, now: number): number;
  waiting(installId: string): { messages: number; bytes: number };
  find(id: string): StoredMessage | null;
  ids(): string[];
  /** Installs with due messages, in the order of the oldest one. */
  dueInstalls(now: number): string[];
  /** Due messages of an install, the longest due first. */
  due(installId: string, now: number, limit: number): StoredMessage[];
  /** Time of the next message that becomes due; null for an empty queue. */
  nextDue(): number | null;
  olderThan(time: number): StoredMessage[];
  /** Keeps the message for these recipients only, and sets its next attempt. */
  defer(id: string, recipients: readonly string[], next: { at: number; reason: string }): void;
  remove(id: string): void;
  /** Forgets the messages and counts of an install. Returns the ids. */
  removeInstall(installId: string): string[];
  /** Makes messages due. Returns their number. */
  makeDue(selection: MailSelection, now: number): number;
  selected(selection: MailSelection, limit: number): StoredMessage[];
  total(selection: MailSelection): { messages: number; bytes: number; oldest: number | null };
  close(): void;
}

const SCHEMA = `
create table if not exists messages (
  id text primary key, install text not null, install_name text not null, sender text not null, recipients text not null,
  bytes integer not null, queued_at integer not null, attempts integer not null, next_at integer not null, reason text
);
create index if not exists messages_install on messages (install, next_at);
create index if not exists messages_queued on messages (queued_at);
create index if not exists messages_next on messages (next_at);
create table if not exists sent (install text not null, at integer not null, recipients integer not null);
create index if not exists sent_install on sent (install, at);
create index if not exists sent_at on sent (at);
`;

interface Row {
  id: string;
  install: string;
  install_name: string;
  sender: string;
  recipients: string;
  bytes: number;
  queued_at: number;
  attempts: number;
  next_at: number;
  reason: string | null;
}

/** Opens or creates the file, which only its owner can read. */
export function openQueueFile(file: string): QueueFile {
  const database = new Sqlite(file);
  try {
    return prepare(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepare(database: Sqlite.Database): QueueFile {
  // A message that was accepted survives a power cut.
  for (const setting of ['journal_mode = WAL', 'synchronous = FULL']) database.pragma(setting);
  database.exec(SCHEMA);
  const put = database.prepare('insert into messages values (?, ?, ?, ?, ?, ?, ?, 0, ?, null)');
  const count = database.prepare('insert into sent values (?, ?, ?)');
  const forgetCounts = database.prepare('delete from sent where at <= ?');
  const inHour = database.prepare<[string, number], { recipients: number }>(
    'select coalesce(sum(recipients), 0) as recipients from sent where install = ? and at > ?',
  );
  const waiting = database.prepare<[string], { messages: number; bytes: number }>(
    'select count(*) as messages, coalesce(sum(bytes), 0) as bytes from messages where install = ?',
  );
  const find = database.prepare<[string], Row>('select * from messages where id = ?');
  const ids = database.prepare<[], { id: string }>('select id from messages');
  const dueInstalls = database.prepare<[number], { install: string }>(
    'select install from messages where next_at <= ? group by install order by min(next_at)',
  );
  const due = database.prepare<[string, number, number], Row>(
    'select * from messages where install = ? and next_at <= ? order by next_at, queued_at limit ?',
  );
  const nextDue = database.prepare<[], { at: number | null }>('select min(next_at) as at from messages');
  const old = database.prepare<[number], Row>('select * from messages where queued_at <= ?');
  const defer = database.prepare(
    'update messages set recipients = ?, attempts = attempts + 1, next_at = ?, reason = ? where id = ?',
  );
  const remove = database.prepare('delete from messages where id = ?');
  const ofInstall = database.prepare<[string], { id: string }>('select id from messages where install = ?');
  const removeOfInstall = database.prepare('delete from messages where install = ?');
  const removeCounts = database.prepare('delete from sent where install = ?');
  const isSelected = `(:install is null or install = :install) and (:ids is null or id in (select value from json_each(:ids)))`;
  const makeDue = database.prepare(`update messages set next_at = :now where ${isSelected}`);
  const selected = database.prepare<[Record<string, unknown>], Row>(
    `select * from messages where ${isSelected} order by queued_at, id limit :limit`,
  );
  const total = database.prepare<
    [Record<string, unknown>],
    { messages: number; bytes: number; oldest: number | null }
  >(
    `select count(*) as messages, coalesce(sum(bytes), 0) as bytes, min(queued_at) as oldest from messages where ${isSelected}`,
  );
  const sentLastHour = (installId: string, now: number) =>
    inHour.get(installId, now - HOUR_MS)?.recipients ?? 0;
  const waitingOf = (installId: string) => waiting.get(installId) ?? { messages: 0, bytes: 0 };
  const condition = ({ installId, ids: named }: MailSelection) => ({
    install: installId,
    ids: named === null ? null : JSON.stringify(named),
  });

  const add = database.transaction((message: NewMessage, limits: QueueLimits): Exceeded | null => {
    const { id, install, sender, recipients, bytes, queuedAt } = message;
    forgetCounts.run(queuedAt - HOUR_MS);
    if (sentLastHour(install.id, queuedAt) + recipients.length > limits.perHour) return 'perHour';
    const present = waitingOf(install.id);
    if (present.messages + 1 > limits.messages) return 'messages';
    if (present.bytes + bytes > limits.bytes) return 'bytes';
    put.run(id, install.id, install.name, sender, JSON.stringify(recipients), bytes, queuedAt, queuedAt);
    count.run(install.id, queuedAt, recipients.length);
    return null;
  });
  const removeInstall = database.transaction((installId: string) => {
    const removed = ofInstall.all(installId).map(({ id }) => id);
    removeOfInstall.run(installId);
    removeCounts.run(installId);
    return removed;
  });

  return {
    add: (message, limits) => add.immediate(message, limits),
    sentLastHour,
    waiting: waitingOf,
    find(id) {
      const row = find.get(id);
      return row === undefined ? null : messageOf(row);
    },
    ids: () => ids.all().map(({ id }) => id),
    dueInstalls: (now) => dueInstalls.all(now).map(({ install }) => install),
    due: (installId, now, limit) => due.all(installId, now, limit).map(messageOf),
    nextDue: () => nextDue.get()?.at ?? null,
    olderThan: (time) => old.all(time).map(messageOf),
    defer: (id, recipients, { at, reason }) => void defer.run(JSON.stringify(recipients), at, reason, id),
    remove: (id) => void remove.run(id),
    removeInstall: (installId) => removeInstall(installId),
    makeDue: (selection, now) => makeDue.run({ ...condition(selection), now }).changes,
    selected: (selection, limit) => selected.all({ ...condition(selection), limit }).map(messageOf),
    total: (selection) => total.get(condition(selection)) ?? { messages: 0, bytes: 0, oldest: null },
    close: () => void database.close(),
  };
}

function messageOf(row: Row): StoredMessage {
  const recipients: unknown = JSON.parse(row.recipients);
  return {
    id: row.id,
    install: { id: row.install, name: row.install_name },
    sender: row.sender,
    recipients: Array.isArray(recipients) ? recipients.filter((one) => typeof one === 'string') : [],
    bytes: row.bytes,
    queuedAt: row.queued_at,
    attempts: row.attempts,
    nextAt: row.next_at,
    reason: row.reason,
  };
}
