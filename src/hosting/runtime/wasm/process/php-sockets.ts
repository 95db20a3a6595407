import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { ERRNO } from './emscripten.ts';
import { askService } from './services.ts';

/** What Emscripten needs to make connections: a class with the interface of a WebSocket of the package `ws`. */
export interface SocketSettings {
  url(socket: unknown, host: string, port: number): string;
  subprotocol: string;
  decorator(): new (url: string) => EventEmitter;
  /** Refuses to listen with an error that PHP understands. */
  serverDecorator(): never;
}

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
/** PHP does not read faster for being sent more. */
const MOST_UNREAD = 4 * 1024 * 1024;

/** Lets PHP's TCP connections go through the platform, which decides where to. `services` gives the path of its socket. */
export function phpSockets(services: () => string): SocketSettings {
  class PhpSocket extends EventEmitter {
    readonly CONNECTING = CONNECTING;
    readonly OPEN = OPEN;
    readonly CLOSING = CLOSING;
    readonly CLOSED = CLOSED;
    readyState = CONNECTING;
    #socket: Socket | undefined;

    constructor(url: string) {
      super();
      // Emscripten may listen for neither.
      this.on('error', () => {});
      const { searchParams } = new URL(url);
      this.#connect(searchParams.get('host') ?? '', Number(searchParams.get('port'))).catch((error) => {
        this.readyState = CLOSED;
        this.emit('error', error);
        this.emit('close');
      });
    }

    async #connect(host: string, port: number): Promise<void> {
      const socket = await askService(services(), { service: 'connect', host, port });
      if (this.readyState !== CONNECTING) {
        socket.destroy();
        return;
      }
      this.#socket = socket;
      socket.on('data', (chunk) => this.emit('message', chunk, true));
      socket.on('error', (error) => this.emit('error', error));
      socket.on('close', () => {
        this.readyState = CLOSED;
        this.emit('close');
      });
      this.readyState = OPEN;
      this.emit('open');
      socket.resume();
    }

    send(chunk: Uint8Array | ArrayBuffer | string): void {
      const socket = this.#socket;
      if (socket === undefined) return;
      // A copy, because PHP uses its memory again.
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(new Uint8Array(chunk));
      if (socket.writableLength > MOST_UNREAD) socket.destroy(new Error('too much unsent data'));
      else socket.write(bytes);
    }

    /**
     * Emscripten uses `on`. Only the function behind `connect` comes here: for a failure it takes the connection away, and whatever waits
     * for that connection then waits until its own time limit. It must not learn of failures, because PHP does not await it either, and
     * asks the connection for its error instead.
     */
    addEventListener(type: string, listener: () => void, options?: { once?: boolean }): void {
      if (type !== 'open') return;
      if (options?.once === true) this.once(type, listener);
      else this.on(type, listener);
    }

    removeEventListener(type: string, listener: () => void): void {
      this.off(type, listener);
    }

    close(): void {
      this.readyState = this.#socket === undefined ? CLOSED : CLOSING;
      this.#socket?.end();
    }

    // PHP sets keep-alive and the like, which concern the platform's connection.
    setSocketOpt(): void {}
  }

  return {
    url: (_socket, host, port) => `tcp://php/?${new URLSearchParams({ host, port: String(port) })}`,
    subprotocol: 'binary',
    decorator: () => PhpSocket,
    serverDecorator() {
      throw Object.assign(new Error('PHP listens on no port'), { name: 'ErrnoError', errno: ERRNO.EPERM });
    },
  };
}
