/** Runs the tasks of isolated-process.ts. Started without arguments, as a child with a channel for messages. */
import { deserialize, serialize } from 'node:v8';
import type { FromChild, ToChild } from './messages.ts';

const running = new Map<number, AbortController>();

async function run({ id, module, name, input }: Extract<ToChild, { id: number }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const loaded = await import(module);
    const output = await loaded[name](deserialize(input), controller.signal);
    tell({ id, output: serialize(output) });
  } catch (error) {
    tell({ id, error: serializeError(error) });
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

function tell(message: FromChild): void {
  process.send?.(message);
}

process.on('message', (message: ToChild) => {
  if ('abort' in message) running.get(message.abort)?.abort();
  else void run(message);
});
// The platform has ended, or needs this process no longer.
process.on('disconnect', () => process.exit());
// A terminal and a service manager signal all processes at once. The platform still uses this one while it stops.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
tell({ ready: true });
