import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { writeAtomically } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import type { HostQuestions, SshLogin } from '../../contract/questions.ts';
import { endTree, isAlive, processAt, withChildOf } from '../machine/processes.ts';

const sessionSchema = Type.Object({
  /** sshd's process for the connection, the ancestor of everything in the session. */
  pid: Type.Integer({ minimum: 2 }),
  /** See Process. */
  startTime: Type.Number(),
  /** The name used to sign in, which is the install's. */
  name: Type.String(),
  fingerprintSha256: Type.String(),
  installId: Type.String(),
  userId: Type.String(),
  /** Whether this host passes its sessions on to the host of the install. */
  isRelayed: Type.Optional(Type.Boolean()),
  /** The host that passed it on to this one, and the user's address there. */
  via: Type.Optional(Type.Object({ by: Type.String(), address: Type.Union([Type.String(), Type.Null()]) })),
});

/** A connection with an admissible key; it may not have proved yet that it has the private key. */
export type Session = Static<typeof sessionSchema>;

/** The current connections. Each stays only while its user has access. */
export interface Sessions {
  /** Adopts the connections of a killed host process, and starts checking all regularly. */
  start(): Promise<void>;
  /** Registers a connection that is about to sign in; the latest key counts. */
  admit(session: Session): Promise<void>;
  /** Whether the install's connection limit admits this sshd process. */
  hasRoom(installId: string, pid: number): Promise<boolean>;
  /** The connection that the process runs in; null if none. */
  around(pid: number): Promise<Session | null>;
  userOf: SessionsOptions['uidOf'];
  /** Ends all connections of an install with their processes; resolves when they are gone. */
  endOf(installId: string): Promise<void>;
  /** Ends all connections, and stops checking. */
  stop(): Promise<void>;
}

export type SessionQuestions = Pick<HostQuestions, 'sshLogin' | 'sshRelay'>;

export interface SessionsOptions {
  /** Folder of root with a record of each connection. */
  folder: string;
  questions: SessionQuestions;
  clock: Clock;
  log: Logger;
  /** Milliseconds between checks of access. */
  recheckMs: number;
  /** How long a connection may stay without an answer from the control plane. */
  unansweredMs: number;
  /** Connections per install. A session's resources count for its install, but the connection itself costs the machine. */
  mostConnections: number;
  /** User id of what runs in the session; null without any. */
  uidOf(session: Session): Promise<number | null>;
}

/** Levels between sshd's process for the connection and the first process of the user: one or two. */
const MOST_GENERATIONS = 5;

interface Held extends Session {
  /** Time of the last answer, in milliseconds. */
  answeredAt: number;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { folder, questions, clock, log, recheckMs, unansweredMs, mostConnections } = options;
  const held = new Map<number, Held>();
  let rechecks: Repetition | undefined;

  const fileOf = (pid: number) => join(folder, `${pid}.json`);

  async function forget({ pid, startTime }: Session): Promise<void> {
    if (held.get(pid)?.startTime !== startTime) return;
    held.delete(pid);
    await rm(fileOf(pid), { force: true });
  }

  async function end(session: Session, reason: string): Promise<void> {
    const { pid, name: install, fingerprintSha256: fingerprint, userId: user } = session;
    if (await isAlive(session)) {
      log.info({ install, fingerprint, user, pid, reason }, 'ending an SSH session');
    }
    await endTree(session);
    await forget(session);
  }

  async function endEach(sessions: Session[], reason: string): Promise<void> {
    const ends = await Promise.allSettled(sessions.map((session) => end(session, reason)));
    const failed = ends.filter((one) => one.status === 'rejected').map(({ reason }): unknown => reason);
    if (failed.length > 0) throw new AggregateError(failed, 'could not end SSH sessions');
  }

  const connectionsOf = (installId: string) =>
    [...held.values()].filter((session) => session.installId === installId);

  /** An install's connections that have proved their key: offering a public key must not use up the limit. */
  async function signedIn(connections: Held[]): Promise<Held[]> {
    const uids = await Promise.all(connections.map(options.uidOf));
    const signed: Held[] = [];
    for (const uid of new Set(uids)) {
      const own = connections.filter((_connection, at) => uids[at] === uid);
      const pids = uid === null ? null : await withChildOf(uid, new Set(own.map(({ pid }) => pid)));
      signed.push(...own.filter(({ pid }) => pids?.has(pid)));
    }
    return signed;
  }

  /** Concurrent logins can all pass the check, so the latest of them are ended again. */
  async function endSurplus(): Promise<void> {
    for (const installId of new Set([...held.values()].map((session) => session.installId))) {
      const connections = connectionsOf(installId);
      if (connections.length <= mostConnections) continue;
      const inOrder = (await signedIn(connections)).sort((one, other) => one.startTime - other.startTime);
      await endEach(inOrder.slice(mostConnections), 'the install has too many connections');
    }
  }

  /** Asks once per key, install and host in between, whatever the number of connections. */
  async function recheck(): Promise<void> {
    const groups = new Map<string, Held[]>();
    for (const session of held.values()) {
      const key = JSON.stringify([
        session.name,
        session.fingerprintSha256,
        session.isRelayed,
        session.via?.by,
      ]);
      groups.set(key, [...(groups.get(key) ?? []), session]);
    }
    await Promise.all([...groups.values()].map(recheckGroup));
    await endSurplus();
  }

  async function recheckGroup(group: Held[]): Promise<void> {
    const [first] = group;
    const living: Held[] = [];
    for (const session of group) {
      if (await isAlive(session)) living.push(session);
      else await forget(session);
    }
    if (first === undefined || living.length === 0) return;
    let login: SshLogin | null;
    try {
      login = first.isRelayed
        ? await questions.sshRelay(first.name, first.fingerprintSha256, null)
        : await questions.sshLogin(first.name, first.fingerprintSha256, first.via?.by);
    } catch (err) {
      log.warn({ err, install: first.name }, 'could not check whether SSH sessions still have access');
      const now = clock.now().getTime();
      const overdue = living.filter(({ answeredAt }) => now - answeredAt > unansweredMs);
      return endEach(overdue, 'access could not be checked for too long');
    }
    const over = living.filter(
      ({ installId, userId }) => login?.install.id !== installId || login.userId !== userId,
    );
    for (const session of living) session.answeredAt = clock.now().getTime();
    await endEach(over, 'the key or the access was revoked');
  }

  async function takeOver(): Promise<void> {
    for (const name of await readdir(folder)) {
      const session = await readSession(join(folder, name));
      if (session !== null && name === `${session.pid}.json` && (await isAlive(session))) {
        held.set(session.pid, { ...session, answeredAt: clock.now().getTime() });
      } else await rm(join(folder, name), { force: true });
    }
  }

  return {
    async start() {
      if (rechecks !== undefined) return;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await takeOver();
      rechecks = repeatEvery(recheck, {
        delayMs: recheckMs,
        onError: (err) => log.error({ err }, 'could not check SSH sessions'),
      });
    },

    async admit(session) {
      await writeAtomically(fileOf(session.pid), JSON.stringify(session));
      held.set(session.pid, { ...session, answeredAt: clock.now().getTime() });
    },

    async hasRoom(installId, pid) {
      const others = connectionsOf(installId).filter((session) => session.pid !== pid);
      return others.length < mostConnections || (await signedIn(others)).length < mostConnections;
    },

    async around(pid) {
      let process = await processAt(pid);
      for (let step = 0; process !== null && step < MOST_GENERATIONS; step += 1) {
        const session = held.get(process.pid);
        if (session?.startTime === process.startTime) return session;
        process = await processAt(process.parent);
      }
      return null;
    },

    userOf: options.uidOf,

    endOf: (installId) => endEach(connectionsOf(installId), 'the install was removed'),

    async stop() {
      void rechecks?.stop();
      rechecks = undefined;
      await endEach([...held.values()], 'the host stops');
    },
  };
}

/** Null for a file that was not written by this, is incomplete, or is gone. */
async function readSession(path: string): Promise<Session | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Value.Check(sessionSchema, value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
