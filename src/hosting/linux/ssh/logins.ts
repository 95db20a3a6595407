import type { Logger } from 'pino';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { SshQuestions } from '../../contract/questions.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { processAt, userOf } from '../machine/processes.ts';
import { entranceOf, parseSessionQuestion, renderEntrance } from './entrance.ts';
import { keyLine, parseKeyQuestion } from './key-question.ts';
import type { Sessions } from './sessions.ts';

/** An install that users can sign in to. */
export interface HostedLogin {
  install: InstallRef;
  sandbox: SandboxedInstall;
  /** Cgroup of its sessions. */
  cgroupName: string;
  /** Name of its database, as shells get it; left out without one. */
  database?: string;
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
  questions: SshQuestions;
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
  const { layout, cgroups, questions, installOf, sessions, pidOfSshd, log } = options;

  /** The process, if it runs as root and is a child of our sshd. */
  async function connectionOf(pid: number): Promise<{ pid: number; startTime: number } | null> {
    const [found, uid, sshd] = await Promise.all([processAt(pid), userOf(pid), pidOfSshd()]);
    if (found === null || uid !== 0 || sshd === null || found.parent !== sshd) return null;
    return { pid, startTime: found.startTime };
  }

  return {
    async answerKey(line) {
      const question = parseKeyQuestion(line);
      if (question === null) return null;
      const { user: name, fingerprintSha256, monitor } = question;
      const who = { install: name, fingerprint: fingerprintSha256 };
      const hosted = installOf(name);
      const login = hosted && (await questions.sshLogin(name, fingerprintSha256));
      if (!hosted || login?.install.id !== hosted.install.id) {
        log.info(who, 'SSH key refused');
        return null;
      }
      const connection = await connectionOf(monitor);
      if (connection === null) {
        log.error(
          { ...who, pid: monitor },
          'refusing an SSH login: its key question names no connection of sshd',
        );
        return null;
      }
      const { id: installId } = hosted.install;
      if (!(await sessions.hasRoom(installId, monitor))) {
        log.warn(
          { ...who, user: login.userId },
          'refusing an SSH login: the install has too many connections',
        );
        return null;
      }
      await sessions.admit({ ...connection, name, fingerprintSha256, installId, userId: login.userId });
      // The install may have been removed in the meantime, and its sessions ended.
      return installOf(name)?.install.id === installId ? keyLine(question) : null;
    },

    async answerSession(line) {
      const question = parseSessionQuestion(line);
      if (question === null) return null;
      const { pid, way } = question;
      const [session, uid] = await Promise.all([sessions.around(pid), userOf(pid)]);
      const hosted = session && installOf(session.name);
      if (!session || hosted?.install.id !== session.installId || hosted.sandbox.uid !== uid) {
        log.warn({ pid, uid }, 'refusing a sandbox to a process outside of all SSH sessions');
        return null;
      }
      await cgroups.addProcess(hosted.cgroupName, pid);
      log.info(
        { install: session.name, user: session.userId, fingerprint: session.fingerprintSha256, way },
        'SSH session started',
      );
      const { database } = hosted;
      const environment = database === undefined ? undefined : { HOMEPORT_DATABASE: database };
      return renderEntrance(entranceOf(layout, hosted.sandbox, way, environment));
    },
  };
}
