import { parentPort, workerData } from 'node:worker_threads';
import '../../lib/certificates/safe-peer-certificate.ts';
import ipaddr from 'ipaddr.js';
import type { ProxyVariables } from '../../lib/outbound-proxy.ts';
import type { DnsServer } from '../dns/client.ts';
import { createDnsResolver } from '../dns/resolver.ts';
import { createAddressPolicy } from '../probe/address-policy.ts';
import { type Attempt, createPoster, type Message } from './post.ts';

/** Settings of the thread. Ranges are texts, because a thread gets plain values only. */
export interface SenderSettings {
  servers: DnsServer[];
  proxy: ProxyVariables;
  allowedRanges: string[];
}

/** The message with this number is to be sent. */
export interface Order {
  number: number;
  message: Message;
}

export interface Outcome {
  number: number;
  attempt: Attempt;
}

/** The worker thread of sender.ts. Signing and HTTP cost the event loop of the API nothing here. */
function serve(settings: SenderSettings): void {
  const poster = createPoster({
    resolver: createDnsResolver(settings.servers),
    proxy: settings.proxy,
    mayContact: createAddressPolicy(settings.allowedRanges.map((range) => ipaddr.parseCIDR(range))),
  });
  let outcomes: Outcome[] = [];
  const tell = (outcome: Outcome) => {
    // Outcomes of one turn of the event loop go together.
    if (outcomes.push(outcome) > 1) return;
    setImmediate(() => {
      parentPort?.postMessage(outcomes);
      outcomes = [];
    });
  };
  parentPort?.on('message', (orders: Order[]) => {
    for (const { number, message } of orders) {
      void poster.post(message).then((attempt) => tell({ number, attempt }));
    }
  });
}

// The only sender is sender.ts, which passes SenderSettings.
serve(workerData);
