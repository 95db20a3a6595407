import type { Logger } from 'pino';
import { IsolatedTaskLost, isolatedTask } from '../../lib/isolated/isolated-task.ts';
import { strangersProcess } from '../../lib/isolated/strangers-process.ts';
import type { GetRequest } from './get.ts';
import type { Handshake, HandshakeRequest } from './handshake.ts';
import { ProbeFailure, type ProbeResponse } from './probe-response.ts';
import { quotable } from './untrusted-text.ts';

const get = isolatedTask<typeof import('./get.ts').getAt>(new URL('./get.ts', import.meta.url), 'getAt');
const handshake = isolatedTask<typeof import('./handshake.ts').makeHandshake>(
  new URL('./handshake.ts', import.meta.url),
  'makeHandshake',
);

/** Connections to servers of strangers, made in the process that may die of what they send. */
export function isolatedProbes(log: Logger) {
  /** Describes a server that killed the process. Throws the error if no server did. */
  function unreadable(host: string, address: string, error: unknown): string {
    if (!(error instanceof IsolatedTaskLost) || error.reason === 'start') throw error;
    log.warn({ err: error, host, address }, 'a server sent something that its check did not survive');
    return `${quotable(host)} at ${address} sends something that cannot be read; check the web server and its certificate there.`;
  }

  return {
    /** See {@link import('./get.ts').getAt}. Throws ProbeFailure. */
    async getAt(request: GetRequest, signal: AbortSignal): Promise<ProbeResponse> {
      const outcome = await strangersProcess.run(get, request, { signal }).catch((error: unknown) => {
        const message = unreadable(new URL(request.url).host, request.address, error);
        return { failure: { problem: 'unreadable' as const, message } };
      });
      if ('failure' in outcome) throw new ProbeFailure(outcome.failure.problem, outcome.failure.message);
      const { location, ...response } = outcome.response;
      return { ...response, location: location === null ? null : new URL(location) };
    },

    /** See {@link import('./handshake.ts').makeHandshake}. */
    makeHandshake: (request: HandshakeRequest, signal: AbortSignal): Promise<Handshake> =>
      strangersProcess.run(handshake, request, { signal }).catch((error: unknown) => {
        const sentence = unreadable(request.host, request.address, error);
        return { certificate: null, failure: { problem: 'unreadable', sentence } };
      }),
  };
}
