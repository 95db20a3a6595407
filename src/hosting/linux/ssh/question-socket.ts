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
  log: Logger;
}

/** The longest question contains an RSA key of 16,384 bits, about 2,800 characters. */
const LONGEST_QUESTION = 20_000;
/** The scripts ask as soon as they connect. */
const QUESTION_MS = 5_000;
/** Beginning of the question for the log: process, user and purpose, or the start of the key. */
const LOGGED_CHARACTERS = 100;
/** More than sshd's limit of connections that have not signed in. */
const MOST_AT_ONCE = 128;

export function createQuestionSocket({ path, access, answer, log }: QuestionSocketOptions): QuestionSocket {
  const sockets = new Set<Socket>();
  /** Connections that have not asked yet, and those that stay open after their answer. */
  const idle = createWaitingRoom({ most: MOST_AT_ONCE, withinMs: QUESTION_MS });
  let answering = 0;
  let server: Server | null = null;

  function serve(socket: Socket): void {
    let text = '';
    let asked = false;
    sockets.add(socket);
    idle.enter(socket);
    socket.setEncoding('utf8');
    // The script may be gone before the answer.
    socket.on('error', (err) => log.debug({ err }, 'connection of an SSH login question failed'));
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (part: string) => {
      text += part;
      if (text.length > LONGEST_QUESTION) socket.destroy();
      else if (!asked && text.includes('\n')) {
        asked = true;
        if (answering >= MOST_AT_ONCE) return socket.destroy();
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
      log.error({ err, asked }, 'could not answer an SSH login question; refusing the login');
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
      made.on('error', (err) => log.error({ err }, 'socket for SSH login questions failed'));
      server = made;
      // Connecting needs write permission, which only root has until then.
      await chown(path, access.uid, access.gid);
      await chmod(path, access.mode);
    },
  };
}
