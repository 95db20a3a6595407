import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { AuthContext, Connection, ServerChannel, Session } from 'ssh2';
import type { Clock } from '../../../lib/clock.ts';
import type { SshQuestions } from '../../contract/questions.ts';
import type { DiskQuotas } from './disk-quota.ts';
import { createSftpFiles } from './sftp-files.ts';
import { type SftpSession, serveSftp } from './sftp-session.ts';
import { createAccess } from './ssh-access.ts';
import { authenticate, type SignedIn } from './ssh-authentication.ts';

export interface ConnectionLimits {
  /** Sign-in attempts; a client with many keys offers one after the other. */
  authAttempts: number;
  /** Concurrent SFTP sessions on one connection. */
  sessions: number;
  /** Open files and folders of one session. */
  handles: number;
  /** Idle timeout of a connection. */
  idleMs: number;
}

export interface ConnectionOptions {
  socket: Socket;
  filesOf(installId: string): string;
  quotas: DiskQuotas;
  questions: SshQuestions;
  limits: ConnectionLimits;
  onSignedIn(): void;
  log: Logger;
  clock: Clock;
}

/** Time for the client to close its side after the disconnect message. */
const GOODBYE_MS = 2_000;

/** Serves one client after the SSH version exchange: signs it in and answers its SFTP sessions. */
export function serveConnection(
  connection: Connection,
  options: ConnectionOptions,
): { end(reason: string): void } {
  const { socket, questions, limits, clock, log } = options;
  const sessions = new Set<SftpSession>();
  const holding = new Set<object>();
  let signedIn: SignedIn | null = null;
  let attempts = 0;
  let openSessions = 0;

  let isEnding = false;

  function end(reason: string): void {
    if (isEnding) return;
    isEnding = true;
    log.info({ reason }, 'an SSH connection is ended');
    disposeAll();
    connection.end();
    socket.resume();
    setTimeout(() => socket.destroy(), GOODBYE_MS).unref();
  }

  function disposeAll(): void {
    for (const session of sessions) {
      session
        .dispose()
        .catch((err: unknown) => log.error({ err }, 'files of an SFTP session were not closed'));
    }
    sessions.clear();
  }

  const idle = setTimeout(() => end('the client was idle for too long'), limits.idleMs).unref();

  /** A session that waits for the disk pauses the connection, which all sessions share. */
  function hold(session: object, held: boolean): void {
    if (held) holding.add(session);
    else holding.delete(session);
    if (holding.size > 0) socket.pause();
    else socket.resume();
  }

  async function signIn(attempt: AuthContext): Promise<void> {
    if (attempt.method !== 'none') attempts += 1;
    if (attempts > limits.authAttempts) {
      end('too many sign-in attempts');
      return;
    }
    const result = await authenticate(attempt, questions, log);
    if (result === null) return;
    signedIn = result;
    const { login, fingerprintSha256 } = result;
    log.info(
      { install: login.install, user: login.userId, fingerprint: fingerprintSha256 },
      'signed in by SSH',
    );
    options.onSignedIn();
  }

  function serveSession(session: Session, who: SignedIn): void {
    openSessions += 1;
    session.on('close', () => {
      openSessions -= 1;
    });
    session.on('sftp', (accept) => {
      const { install } = who.login;
      const sftp = accept();
      const served = serveSftp({
        sftp,
        files: createSftpFiles(
          options.filesOf(install.id),
          install.name,
          clock,
          options.quotas.of(install.id),
        ),
        access: createAccess(who, questions, clock),
        handles: limits.handles,
        unsent: () => socket.writableLength,
        hold: (held) => hold(sftp, held),
        onRequest: () => idle.refresh(),
        onEnd: end,
        log,
      });
      sessions.add(served);
      sftp.on('close', () => sessions.delete(served));
    });
    // `ssh` shows this message only if a terminal was granted; otherwise it reports an error.
    session.on('pty', (accept) => accept?.());
    session.on('shell', (accept) => sayGoodbye(accept(), who));
    session.on('exec', (accept) => sayGoodbye(accept(), who));
  }

  connection.on('authentication', (attempt) => {
    signIn(attempt).catch((err: unknown) => {
      log.error({ err }, 'an SSH log-in failed');
      end('the log-in failed');
    });
  });
  connection.on('session', (accept, reject) => {
    if (signedIn === null || isEnding || openSessions >= limits.sessions) reject();
    else serveSession(accept(), signedIn);
  });
  const wakeAll = () => {
    for (const session of sessions) session.wake();
  };
  // Incoming data may be a window update from the client.
  socket.on('data', () => setImmediate(wakeAll));
  socket.on('drain', wakeAll);
  connection.on('error', (err) => log.debug({ err }, 'an SSH connection failed'));
  connection.on('close', () => {
    clearTimeout(idle);
    disposeAll();
  });

  return { end };
}

function sayGoodbye(channel: ServerChannel, { name }: SignedIn): void {
  channel.stderr.write(
    `This server gives access to files by SFTP only; there is no shell.\r\nUse an SFTP program and sign in as ${name}.\r\n`,
  );
  channel.exit(1);
  channel.end();
}
