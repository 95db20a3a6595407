import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import type { Clock } from '../../../lib/clock.ts';
import { type Repetition, repeatEvery } from '../../../lib/concurrency.ts';
import { writeAtomically } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import type { SshLogin, SshQuestions } from '../../contract/host.ts';
import { endTree, isAlive, processAt, withChildOf } from './processes.ts';

const sessionSchema = Type.Object({
  /** The process of sshd that has the connection: all that runs in the session is below it. */
  pid: Type.Integer({ minimum: 2 }),
  /** See Process. */
  startTime: Type.Number(),
  /** The name that was signed in with, which is the install's. */
  name: Type.String(),
  fingerprintSha256: Type.String(),
  installId: Type.String(),
  userId: Type.String(),
});

/** A connection whose key may sign in; perhaps it has not proved yet that it has the private one. */
export type Session = Static<typeof sessionSchema>;

/** The connections that there are, each for as long as its user may be there. */
export interface Sessions {
  /** Takes over those that an earlier host process left when it was killed, and asks after all from now on. */
  start(): Promise<void>;
  /** A connection is about to sign in; the last answer for it counts. */
  admit(session: Session): Promise<void>;
  /** Whether the install has so few connections that this process of sshd may have one of them. */
  hasRoom(installId: string, pid: number): Promise<boolean>;
  /** In whose connection the process runs; null for one that runs in none. */
  around(pid: number): Promise<Session | null>;
  /** Ends all of one install, processes and all; resolves when they are gone. */
  endOf(installId: string): Promise<void>;
  /** Ends all, and asks no more. */
  stop(): Promise<void>;
}

export interface SessionsOptions {
  /** Where it is written down who is there. Root's own. */
  folder: string;
  questions: SshQuestions;
  clock: Clock;
  log: Logger;
  /** How often it is asked whether somebody may still be there, in milliseconds. */
  recheckMs: number;
  /** For how long somebody may stay while there is no answer. */
  unansweredMs: number;
  /** How many connections an install may have. A session costs its install; a connection without one costs the machine. */
  mostConnections: number;
  /** The user that sessions of the install of that name run as; null if there is none. */
  uidOf(name: string): number | null;
}

/** Between the process of sshd that has the connection and what it begins for the user there are one or two. */
const MOST_GENERATIONS = 5;

interface Held extends Session {
  /** When the last answer came, in milliseconds. */
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
      log.info({ install, fingerprint, user, pid, reason }, 'an SSH session is ended');
    }
    await endTree(session);
    await forget(session);
  }

  async function endEach(sessions: Session[], reason: string): Promise<void> {
    const ends = await Promise.allSettled(sessions.map((session) => end(session, reason)));
    const failed = ends.filter((one) => one.status === 'rejected').map(({ reason }): unknown => reason);
    if (failed.length > 0) throw new AggregateError(failed, 'SSH sessions did not end');
  }

  const connectionsOf = (installId: string) =>
    [...held.values()].filter((session) => session.installId === installId);

  /** Those of one install in which somebody has proved who he is: who has only shown a public key keeps nobody out. */
  async function signedIn(connections: Held[]): Promise<Held[]> {
    const [first] = connections;
    const uid = first === undefined ? null : options.uidOf(first.name);
    if (uid === null) return [];
    const pids = await withChildOf(uid, new Set(connections.map(({ pid }) => pid)));
    return connections.filter(({ pid }) => pids.has(pid));
  }

  /** Many that sign in at the same time all find room: the last of them go again. */
  async function endSurplus(): Promise<void> {
    for (const installId of new Set([...held.values()].map((session) => session.installId))) {
      const connections = connectionsOf(installId);
      if (connections.length <= mostConnections) continue;
      const inOrder = (await signedIn(connections)).sort((one, other) => one.startTime - other.startTime);
      await endEach(inOrder.slice(mostConnections), 'the install has too many connections');
    }
  }

  /** Asks once for each key at each install, whatever the number of its connections. */
  async function recheck(): Promise<void> {
    const groups = new Map<string, Held[]>();
    for (const session of held.values()) {
      const key = `${session.name} ${session.fingerprintSha256}`;
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
      login = await questions.sshLogin(first.name, first.fingerprintSha256);
    } catch (err) {
      log.warn({ err, install: first.name }, 'it could not be asked whether SSH sessions may go on');
      const now = clock.now().getTime();
      const overdue = living.filter(({ answeredAt }) => now - answeredAt > unansweredMs);
      return endEach(overdue, 'nobody answered for too long whether it may go on');
    }
    const over = living.filter(
      ({ installId, userId }) => login?.install.id !== installId || login.userId !== userId,
    );
    for (const session of living) session.answeredAt = clock.now().getTime();
    await endEach(over, 'the key or the permission was taken away');
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
        onError: (err) => log.error({ err }, 'SSH sessions could not be looked after'),
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

    endOf: (installId) => endEach(connectionsOf(installId), 'the install is taken away'),

    async stop() {
      void rechecks?.stop();
      rechecks = undefined;
      await endEach([...held.values()], 'the host stops');
    },
  };
}

/** Null for what was not written here, or not to its end, or is gone. */
async function readSession(path: string): Promise<Session | null> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Value.Check(sessionSchema, value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}
