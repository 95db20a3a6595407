import { EventEmitter } from 'node:events';
import { askService } from './services.ts';

/** The longest email in bytes. */
const LONGEST = 32 * 1024 * 1024;
const UNAVAILABLE = 69;

/** Takes an email. */
export type TakeMail = (message: Buffer, parameters: string[]) => Promise<void>;

/** The input of a program, as Emscripten writes to it. */
interface Input {
  closed: boolean;
  write(chunk: Uint8Array): void;
  end(): void;
}

/** A program as Emscripten sees one, with the interface of Node's `ChildProcess`. */
export class MailProgram extends EventEmitter {
  static #last = 1000;
  readonly pid = ++MailProgram.#last;
  readonly stdout = new EventEmitter();
  readonly stderr = new EventEmitter();
  readonly stdin: Input;

  constructor(parameters: string[], take: TakeMail) {
    super();
    this.on('error', () => {});
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = async (): Promise<void> => {
      try {
        if (bytes > LONGEST) throw new Error('the email is too long');
        await take(Buffer.concat(chunks), parameters);
        this.emit('exit', 0);
      } catch {
        this.emit('exit', UNAVAILABLE);
      }
    };
    this.stdin = {
      closed: false,
      write(chunk) {
        bytes += chunk.length;
        // A copy, because PHP uses its memory again.
        if (bytes <= LONGEST) chunks.push(Buffer.from(chunk));
      },
      end() {
        if (this.closed) return;
        this.closed = true;
        // After Emscripten has finished with the input.
        setImmediate(finish);
      },
    };
    setImmediate(() => this.emit('spawn'));
  }
}

/** Gives an email to the platform, which listens at `services`. */
export async function deliverMail(services: string, message: Buffer, parameters: string[]): Promise<void> {
  const socket = await askService(services, { service: 'mail', arguments: parameters }, message);
  socket.destroy();
}
