import { once } from 'node:events';
import { chmod, chown, rm, stat } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { hasCode } from '../../../lib/error-code.ts';
import { createWaitingRoom } from '../../policy/waiting-room.ts';

/** A Unix socket where a script asks one question, a line, and gets one answer. */
export interface QuestionSocket {
  readonly path: string;
  /** Starts listening if needed; replaces a socket of an earlier process. */
  open(): Promise<void>;
  /** Whether it listens and its file is in place. */
  isOpen(): Promise<boolean>;
  close(): Promise<void>;
}

export interface QuestionSocketOptions {
  path: string;
  /** Owner of the socket, who may ask: connecting needs write permission. */
  access: { uid: number; gid: number; mode: number };
  /** Returns the answer, or null for none. */
  answer(question: string): Promise<string | null>;
  /** Called for each connection; with false, it is closed. All are accepted if left out. */
  admits?(): boolean;
  /** For the log: `SSH login`. */
  purpose: string;
  limits: QuestionLimits;
  log: Logger;
}

export interface QuestionLimits {
  /** Characters of a question. */
  characters: number;
  /** Connections that wait for an answer, and as many that have not asked or do not leave. */
  atOnce: number;
}

/** The scripts ask as soon as they connect. */
const QUESTION_MS = 5_000;
/** Beginning of the question for the log: process, user and purpose, or the start of the key. */
const LOGGED_CHARACTERS = 100;

export function createQuestionSocket(options: QuestionSocketOptions): QuestionSocket {
  const { path, access, answer, admits = () => true, purpose, limits, log } = options;
  const sockets = new Set<Socket>();
  /** Connections that have not asked yet, and those that stay open after their answer. */
  const idle = createWaitingRoom({ most: limits.atOnce, withinMs: QUESTION_MS });
  let answering = 0;
  let server: Server | null = null;

  function serve(socket: Socket): void {
    if (!admits()) return void socket.destroy();
    let text = '';
    let asked = false;
    sockets.add(socket);
    idle.enter(socket);
    socket.setEncoding('utf8');
    // The script may be gone before the answer.
    socket.on('error', (err) => log.debug({ err }, `the connection of a question (${purpose}) failed`));
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (part: string) => {
      text += part;
      if (text.length > limits.characters) socket.destroy();
      else if (!asked && text.includes('\n')) {
        asked = true;
        if (answering >= limits.atOnce) return socket.destroy();
        void reply(socket, text.slice(0, text.indexOf('\n')));
      }
    });
    socket.on('end', () => {
      if (!asked) socket.end();
    });
  }

  async function reply(socket: Socket, question: string): Promise<void> {
    answering += 1;
    idle.leave(socket);
    try {
      socket.end((await answer(question)) ?? '');
    } catch (err) {
      const asked = question.slice(0, LOGGED_CHARACTERS);
      log.error({ err, asked }, `could not answer a question (${purpose})`);
      socket.end();
    } finally {
      answering -= 1;
      idle.enter(socket);
    }
  }

  async function isOpen(): Promise<boolean> {
    if (server === null) return false;
    try {
      return (await stat(path)).isSocket();
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  async function close(): Promise<void> {
    if (server === null) return;
    const closed = once(server, 'close');
    server.close();
    server = null;
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    path,
    isOpen,
    close,
    async open() {
      if (await isOpen()) return;
      await close();
      await rm(path, { force: true });
      const made = createServer({ allowHalfOpen: true }, serve);
      made.listen(path);
      await once(made, 'listening');
      made.on('error', (err) => log.error({ err }, `the socket for questions (${purpose}) failed`));
      server = made;
      // Connecting needs write permission, which only root has until then.
      await chown(path, access.uid, access.gid);
      await chmod(path, access.mode);
    },
  };
}
