import { Worker } from 'node:worker_threads';
import type { AddressRange } from '../../config/settings/setting-values.ts';
import { threadEnvironment } from '../../lib/compile-cache.ts';
import type { ProxyVariables } from '../../lib/outbound-proxy.ts';
import type { DnsServer } from '../dns/client.ts';
import type { Attempt, Message } from './post.ts';
import type { Order, Outcome, SenderSettings } from './sender-thread.ts';

/** Sends signed messages to receivers, each once. */
export interface Sender {
  /** Never rejects because of the receiver. Rejects if the sender fails or is closed. */
  send(message: Message): Promise<Attempt>;
  close(): Promise<void>;
}

interface Running {
  thread: Worker;
  waiting: Map<number, { resolve(attempt: Attempt): void; reject(error: unknown): void }>;
  orders: Order[];
}

/**
 * Sends from a worker thread, started for the first message: a thousand requests a second would delay those of the API. A thread that
 * fails rejects what it had; the next message starts another.
 */
export function createSender(settings: {
  servers: DnsServer[];
  allowed: AddressRange[];
  /** Default: none. */
  proxy?: ProxyVariables;
}): Sender {
  const workerData: SenderSettings = {
    servers: settings.servers,
    proxy: settings.proxy ?? {},
    allowedRanges: settings.allowed.map(([address, bits]) => `${address.toString()}/${bits}`),
  };
  let running: Running | undefined;
  let number = 0;
  let closed = false;

  function start(): Running {
    const thread = new Worker(new URL('./sender-thread.ts', import.meta.url), {
      workerData,
      env: threadEnvironment(),
    });
    const started: Running = { thread, waiting: new Map(), orders: [] };
    thread.on('message', (outcomes: Outcome[]) => {
      for (const outcome of outcomes) {
        started.waiting.get(outcome.number)?.resolve(outcome.attempt);
        started.waiting.delete(outcome.number);
      }
    });
    const lost = (error: unknown) => {
      if (running === started) running = undefined;
      for (const { reject } of started.waiting.values()) reject(error);
      started.waiting.clear();
    };
    thread.on('error', lost);
    thread.on('exit', () => lost(new Error('the sender has ended')));
    thread.unref();
    return started;
  }

  return {
    send(message) {
      if (closed) return Promise.reject(new Error('the sender is closed'));
      running ??= start();
      const { thread, waiting, orders } = running;
      number += 1;
      const own = number;
      return new Promise((resolve, reject) => {
        waiting.set(own, { resolve, reject });
        // Messages of one turn of the event loop go together.
        if (orders.push({ number: own, message }) > 1) return;
        queueMicrotask(() => thread.postMessage(orders.splice(0)));
      });
    },
    async close() {
      closed = true;
      await running?.thread.terminate();
    },
  };
}
