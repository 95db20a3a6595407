import type { Logger } from 'pino';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { SshLogin } from '../../contract/questions.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { processAt, userOf } from '../machine/processes.ts';
import { entranceOf, parseSessionQuestion, renderEntrance } from './entrance.ts';
import { type KeyQuestion, keyLine, parseKeyQuestion } from './key-question.ts';
import { createSignIns, makePass, relayTo } from './relay.ts';
import type { Session, SessionQuestions, Sessions } from './sessions.ts';

/** An install that users can sign in to. */
export interface HostedLogin {
  install: InstallRef;
  sandbox: SandboxedInstall;
  /** Cgroup of its sessions. */
  cgroupName: string;
  /** Name of its database, as shells get it; left out without one. */
  database?: string;
}

/** An install of another host that this one passes sessions on to. */
export interface SshRelays {
  has(name: string): boolean;
  /** User id of all of them; null without any. */
  uid(): Promise<number | null>;
}

/** A user who may sign in. */
interface Admitted {
  login: SshLogin;
  /** Of the user's own key. */
  fingerprintSha256: string;
  isRelayed?: boolean;
  via?: Session['via'];
  stillThere(): boolean;
}

/** Answers to the scripts that sshd runs. */
export interface LogIns {
  /** For `authorized-keys.pl`: the line that admits a key; null if the key is refused. */
  answerKey(line: string): Promise<string | null>;
  /** For `session.pl`: the command that enters the sandbox. Puts the asking process into the install's cgroup first. */
  answerSession(line: string): Promise<string | null>;
}

export interface LogInsOptions {
  layout: LinuxLayout;
  cgroups: Pick<Cgroups, 'addProcess'>;
  questions: SessionQuestions;
  relays: SshRelays;
  installOf(name: string): HostedLogin | null;
  sessions: Sessions;
  /** Main process of our sshd; null if none runs. */
  pidOfSshd(): Promise<number | null>;
  log: Logger;
}

/**
 * Verifies the claims of the scripts: the process that they name must belong to our own sshd, and to the user of the
 * install.
 */
export function createLogIns(options: LogInsOptions): LogIns {
  const { layout, cgroups, questions, relays, installOf, sessions, pidOfSshd, log } = options;
  const signIns = createSignIns();

  /** The process, if it runs as root and is a child of our sshd. */
  async function connectionOf(pid: number): Promise<{ pid: number; startTime: number } | null> {
    const [found, uid, sshd] = await Promise.all([processAt(pid), userOf(pid), pidOfSshd()]);
    if (found === null || uid !== 0 || sshd === null || found.parent !== sshd) return null;
    return { pid, startTime: found.startTime };
  }

  /** The user of an install of this host who may sign in; null without one. */
  async function ownLogin({ user, fingerprintSha256 }: KeyQuestion): Promise<Admitted | null> {
    const hosted = installOf(user);
    const login = hosted && (await questions.sshLogin(user, fingerprintSha256));
    if (!hosted || login?.install.id !== hosted.install.id) return null;
    const { relayed } = login;
    const stillThere = () => installOf(user)?.install.id === login.install.id;
    if (relayed === undefined) return { login, fingerprintSha256, stillThere };
    const { fingerprintSha256: usersKey, ...via } = relayed;
    return { login, fingerprintSha256: usersKey, via, stillThere };
  }

  /** The user of an install of another host who may sign in there; null without one. */
  async function relayedLogin({ user, fingerprintSha256 }: KeyQuestion): Promise<Admitted | null> {
    if (!relays.has(user)) return null;
    const login = await questions.sshRelay(user, fingerprintSha256, null);
    if (login === null) return null;
    return { login, fingerprintSha256, isRelayed: true, stillThere: () => relays.has(user) };
  }

  /** The command that passes the session on; null if it is refused. */
  async function relay(
    session: Session,
    process: { pid: number; uid: number },
    address: string | null,
  ): Promise<string | null> {
    const { name, fingerprintSha256, userId } = session;
    const pass = await makePass(layout, process.uid);
    const target = await questions.sshRelay(name, fingerprintSha256, {
      fingerprintSha256: pass.fingerprintSha256,
      address,
    });
    if (target?.install.id !== session.installId || target.userId !== userId) return null;
    const command = await relayTo(layout, target, pass);
    await signIns.turn(target.host, pass, process.pid);
    return renderEntrance(command);
  }

  return {
    async answerKey(line) {
      const question = parseKeyQuestion(line);
      if (question === null) return null;
      const { user: name, monitor } = question;
      const admitted = (await ownLogin(question)) ?? (await relayedLogin(question));
      const who = { install: name, fingerprint: admitted?.fingerprintSha256 ?? question.fingerprintSha256 };
      if (admitted === null) {
        log.info(who, 'SSH key refused');
        return null;
      }
      const { login, stillThere, fingerprintSha256, isRelayed, via } = admitted;
      const connection = await connectionOf(monitor);
      if (connection === null) {
        log.error(
          { ...who, pid: monitor },
          'refusing an SSH login: its key question names no connection of sshd',
        );
        return null;
      }
      const installId = login.install.id;
      if (!(await sessions.hasRoom(installId, monitor))) {
        log.warn(
          { ...who, user: login.userId },
          'refusing an SSH login: the install has too many connections',
        );
        return null;
      }
      await sessions.admit({
        ...{ ...connection, name, fingerprintSha256, installId, userId: login.userId },
        ...(isRelayed ? { isRelayed } : {}),
        ...(via === undefined ? {} : { via }),
      });
      // The install may have been removed in the meantime, and its sessions ended.
      return stillThere() ? keyLine(question) : null;
    },

    async answerSession(line) {
      const question = parseSessionQuestion(line);
      if (question === null) return null;
      const { pid, way } = question;
      const [session, uid] = await Promise.all([sessions.around(pid), userOf(pid)]);
      const hosted = session && installOf(session.name);
      const isOfSession = session !== null && uid !== null && (await sessions.userOf(session)) === uid;
      if (!isOfSession || (!session.isRelayed && hosted?.install.id !== session.installId)) {
        log.warn({ pid, uid }, 'refusing a sandbox to a process outside of all SSH sessions');
        return null;
      }
      const { name, userId, fingerprintSha256, via } = session;
      const address = via === undefined ? question.address : via.address;
      const about = {
        install: name,
        user: userId,
        fingerprint: fingerprintSha256,
        way,
        address,
        via: via?.by,
      };
      if (session.isRelayed) {
        const command = await relay(session, { pid, uid }, address);
        log.info(about, command === null ? 'SSH session not passed on' : 'SSH session passed on');
        return command;
      }
      if (!hosted) return null;
      await cgroups.addProcess(hosted.cgroupName, pid);
      log.info(about, 'SSH session started');
      const { database } = hosted;
      const environment = database === undefined ? undefined : { HOMEPORT_DATABASE: database };
      return renderEntrance(entranceOf(layout, hosted.sandbox, way, environment));
    },
  };
}
