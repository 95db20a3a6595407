import type { Logger } from 'pino';
import type { InstallRef, SshQuestions } from '../../contract/host.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { entranceOf, parseSessionQuestion, renderEntrance } from './entrance.ts';
import { keyLine, parseKeyQuestion } from './key-question.ts';
import { processAt, userOf } from './processes.ts';
import type { Sessions } from './sessions.ts';

/** An install that can be signed in to. */
export interface HostedLogin {
  install: InstallRef;
  sandbox: SandboxedInstall;
  /** Whose limits hold for its sessions. */
  cgroupName: string;
}

/** What the scripts that sshd runs are answered. */
export interface LogIns {
  /** For `authorized-keys.pl`: the line that lets a key in; null if it may not. */
  answerKey(line: string): Promise<string | null>;
  /** For `session.pl`: what leads its user into the sandbox, after its process was put under the limits of the install. */
  answerSession(line: string): Promise<string | null>;
}

export interface LogInsOptions {
  layout: LinuxLayout;
  cgroups: Pick<Cgroups, 'addProcess'>;
  questions: SshQuestions;
  installOf(name: string): HostedLogin | null;
  sessions: Sessions;
  /** Main process of our sshd; null while there is none. */
  pidOfSshd(): Promise<number | null>;
  log: Logger;
}

/**
 * The askers say who they are, and are not taken at their word: what they name has to be a process of our own sshd, and of the
 * user whose install it is.
 */
export function createLogIns(options: LogInsOptions): LogIns {
  const { layout, cgroups, questions, installOf, sessions, pidOfSshd, log } = options;

  /** The process, if it is one of root's that our sshd began. */
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
        log.info(who, 'an SSH key that may not enter was offered');
        return null;
      }
      const connection = await connectionOf(monitor);
      if (connection === null) {
        log.error(
          { ...who, pid: monitor },
          'a question for an SSH key names no connection of sshd; it is refused',
        );
        return null;
      }
      const { id: installId } = hosted.install;
      if (!(await sessions.hasRoom(installId, monitor))) {
        log.warn(
          { ...who, user: login.userId },
          'an SSH log-in is refused: the install has too many connections',
        );
        return null;
      }
      await sessions.admit({ ...connection, name, fingerprintSha256, installId, userId: login.userId });
      // It may have been taken away since it was looked for, and its sessions ended.
      return installOf(name)?.install.id === installId ? keyLine(question) : null;
    },

    async answerSession(line) {
      const question = parseSessionQuestion(line);
      if (question === null) return null;
      const { pid, way } = question;
      const [session, uid] = await Promise.all([sessions.around(pid), userOf(pid)]);
      const hosted = session && installOf(session.name);
      if (!session || hosted?.install.id !== session.installId || hosted.sandbox.uid !== uid) {
        log.warn({ pid, uid }, 'a process in no SSH session asked for the way into a sandbox; it is refused');
        return null;
      }
      await cgroups.addProcess(hosted.cgroupName, pid);
      log.info(
        { install: session.name, user: session.userId, fingerprint: session.fingerprintSha256, way },
        'an SSH session begins',
      );
      return renderEntrance(entranceOf(layout, hosted.sandbox, way));
    },
  };
}
