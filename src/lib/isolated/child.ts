/** Runs the tasks of isolated-process.ts. Started without arguments, with a socket for messages. */
import { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { type FromChild, readMessages, sendMessage, type ToChild } from './messages.ts';

/** Where the platform puts the socket. */
const DESCRIPTOR = 3;

const channel = new Socket({ fd: DESCRIPTOR, readable: true, writable: true });
const running = new Map<number, AbortController>();

async function run({ id, module, name, value, maxBytes }: Extract<ToChild, { id: number }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const answer = (kind: FromChild['kind'], bytes: Uint8Array = Buffer.alloc(0)) => {
    if (bytes.byteLength > maxBytes) sendMessage(channel, { id, kind: 'too_large', value: Buffer.alloc(0) });
    else sendMessage(channel, { id, kind, value: bytes });
  };
  try {
    const loaded = await import(module);
    answer('returned', serialize(await loaded[name](deserialize(value), controller.signal)));
  } catch (error) {
    answer('thrown', serializeError(error));
  } finally {
    running.delete(id);
  }
}

/** An error of a library can hold functions, which cannot be copied. */
function serializeError(error: unknown): Uint8Array {
  try {
    return serialize(error);
  } catch {
    return serialize(new Error(String(error)));
  }
}

readMessages(channel, Number.MAX_SAFE_INTEGER, {
  received(message: ToChild) {
    if ('abort' in message) running.get(message.abort)?.abort();
    else void run(message);
  },
  broken: () => process.exit(1),
});
// The platform has ended, or needs this process no longer.
for (const event of ['end', 'error', 'close'] as const) channel.on(event, () => process.exit());
// A terminal and a service manager signal all processes at once. The platform still uses this one while it stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
sendMessage(channel, { id: null, kind: 'ready', value: Buffer.alloc(0) });
