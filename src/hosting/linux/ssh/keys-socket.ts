import { once } from 'node:events';
import { chmod, chown, rm, stat } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { hasCode } from '../../error-code.ts';
import { type KeyQuestion, LONGEST_QUESTION, parseKeyQuestion } from './key-question.ts';

/** Where `authorized-keys.pl` asks. */
export interface KeysSocket {
  /** Listens, if it does not yet; a socket of an earlier process is replaced. */
  open(): Promise<void>;
  /** Whether it listens and others find it. */
  isOpen(): Promise<boolean>;
  close(): Promise<void>;
}

export interface KeysSocketOptions {
  path: string;
  /** Who alone may ask, besides root. */
  asker: { uid: number; gid: number };
  /** The line to answer, or null: then nothing is answered. */
  answer(question: KeyQuestion): Promise<string | null>;
  log: Logger;
}

/** The asker waits no longer than 5 seconds. */
const QUESTION_MS = 5_000;
/** sshd starts no more connections than that before somebody has signed in. */
const MOST_AT_ONCE = 128;

export function createKeysSocket({ path, asker, answer, log }: KeysSocketOptions): KeysSocket {
  let server: Server | null = null;

  function serve(socket: Socket): void {
    let text = '';
    let asked = false;
    const grace = setTimeout(() => socket.destroy(), QUESTION_MS);
    socket.setEncoding('utf8');
    // The asker may be gone before the answer comes.
    socket.on('error', (err) => log.debug({ err }, 'a question for an SSH key was broken off'));
    socket.on('close', () => clearTimeout(grace));
    socket.on('data', (part: string) => {
      text += part;
      if (text.length > LONGEST_QUESTION) socket.destroy();
      else if (!asked && text.includes('\n')) {
        asked = true;
        reply(socket, text.slice(0, text.indexOf('\n')));
      }
    });
  }

  function reply(socket: Socket, line: string): void {
    const question = parseKeyQuestion(line);
    Promise.resolve(question && answer(question)).then(
      (text) => socket.end(text ?? ''),
      (err: unknown) => {
        log.error({ err, install: question?.user }, 'an SSH log-in could not be checked and is refused');
        socket.end();
      },
    );
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
    await closed;
  }

  return {
    isOpen,
    close,
    async open() {
      if (await isOpen()) return;
      await close();
      await rm(path, { force: true });
      const made = createServer({ allowHalfOpen: true }, serve);
      made.maxConnections = MOST_AT_ONCE;
      made.listen(path);
      await once(made, 'listening');
      made.on('error', (err) => log.error({ err }, 'the socket for SSH keys failed'));
      server = made;
      // Connecting takes the right to write, which nobody but root has until then.
      await chmod(path, 0o600);
      await chown(path, asker.uid, asker.gid);
    },
  };
}
