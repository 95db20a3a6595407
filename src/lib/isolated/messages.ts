import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';

/** `value`: the input or output of a task, as bytes of v8.serialize. */
export type ToChild =
  | { id: number; module: string; name: string; value: Uint8Array; maxBytes: number }
  /** Aborts the signal of a task. */
  | { abort: number };

/** `thrown`: the value is an error. `too_large`: the output was, and there is no value. */
export interface FromChild {
  /** Of the task; null once, when the child reads messages. */
  id: number | null;
  kind: 'ready' | 'returned' | 'thrown' | 'too_large';
  value: Uint8Array;
}

const LENGTH_BYTES = 4;

/** Writes a message: its length, then bytes of v8.serialize. */
export function sendMessage(channel: Socket, message: ToChild | FromChild): void {
  if (!channel.writable) return;
  const body = serialize(message);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(body.length);
  channel.write(length);
  channel.write(body);
}

/**
 * Reads messages. Node's own channel between processes would take any length, and end this process if a message cannot be read. `broken` is
 * called instead, once, and no message follows.
 */
export function readMessages<Message>(
  channel: Socket,
  mostBytes: number,
  { received, broken }: { received(message: Message): void; broken(why: string): void },
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let isBroken = false;

  channel.on('data', (chunk: Buffer) => {
    if (isBroken) return;
    chunks.push(chunk);
    size += chunk.length;
    try {
      for (let next = take(); next !== null; next = take()) received(deserialize(next));
    } catch (error) {
      isBroken = true;
      broken(String(error));
    }
  });

  /** The next message, or null if it is not complete. */
  function take(): Buffer | null {
    if (size < LENGTH_BYTES) return null;
    if ((chunks[0]?.length ?? 0) < LENGTH_BYTES) chunks = [Buffer.concat(chunks)];
    const length = chunks[0]?.readUInt32BE() ?? 0;
    if (length > mostBytes) throw new Error(`a message of ${length} bytes`);
    const end = LENGTH_BYTES + length;
    if (size < end) return null;
    const all = Buffer.concat(chunks);
    chunks = [all.subarray(end)];
    size = all.length - end;
    return all.subarray(LENGTH_BYTES, end);
  }
}
