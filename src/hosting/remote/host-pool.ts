import type { Pool } from 'undici';
import type { HostTarget } from './host-target.ts';
import { hostNameOf } from './identity.ts';
import { LARGEST_ANSWER, SILENCE_MS } from './protocol.ts';

const CONNECT_MS = 5_000;
/** Shorter than the host's limit for idle connections, so that no command uses a connection that is closing. */
const KEEP_ALIVE_MS = 30_000;

/** Creates the connections to a host. Loads undici only for hosts in another process. */
export async function poolOf(target: HostTarget): Promise<Pool> {
  const { Pool } = await import('undici');
  const limits = {
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxResponseSize: LARGEST_ANSWER,
  };
  if ('socket' in target) {
    return new Pool('http://host.homeport.internal', {
      ...limits,
      connect: { socketPath: target.socket, timeout: CONNECT_MS },
    });
  }
  const { url, hostId, identity } = target;
  return new Pool(url, {
    ...limits,
    connect: {
      timeout: CONNECT_MS,
      servername: hostNameOf(hostId),
      ca: [identity.ca],
      cert: identity.certificate,
      key: identity.key,
      minVersion: 'TLSv1.3',
    },
  });
}
