import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { messageOf } from '../../../lib/error-message.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import type { OtherEdge } from '../../contract/edge-routes.ts';
import { EDGE_NAME_SUFFIX } from '../../remote/edge-identity.ts';
import type { ForwardingOptions } from './forwarded-requests.ts';

const WITHIN_MS = 5_000;
/** Of the edge, not of a website: it has no website of that name. */
const PROBED = 'edge.homeport.internal';

/** Asks another edge as nginx would. One sentence that says why requests cannot be forwarded to it; null if they can. */
export async function probeEdge(
  { hostId, host, port }: OtherEdge,
  { identity, authority }: Pick<ForwardingOptions, 'identity' | 'authority'>,
  signal?: AbortSignal,
): Promise<string | null> {
  const place = hostAndPort({ host, port });
  const own = await readFile(identity, 'utf8');
  const asked = request({
    ...{ host, port, method: 'HEAD', path: '/', agent: false, headers: { Host: PROBED } },
    ...{ cert: own, key: own, ca: await readFile(authority, 'utf8') },
    servername: `${hostId}${EDGE_NAME_SUFFIX}`,
    signal: AbortSignal.any([AbortSignal.timeout(WITHIN_MS), ...(signal === undefined ? [] : [signal])]),
  }).end();
  try {
    const [response]: { statusCode?: number; resume(): void }[] = await once(asked, 'response');
    response?.resume();
    // Without a visitor the request is wrong; an edge that does not know this host refuses it before it looks.
    if (response?.statusCode !== 403) return null;
    return `The edge at ${place} does not know this host yet.`;
  } catch (error) {
    return `The edge of the host ${hostId} at ${place} cannot be reached: ${messageOf(error)}.`;
  }
}
