import { hash, randomUUID } from 'node:crypto';

import type { EdgeRoute } from '../../contract/edge-routes.ts';
import type { InstallState } from '../../contract/install-state.ts';
import { createEdgeAuthority, createEdgeIdentity } from '../../remote/edge-identity.ts';
import type { Certified } from '../../remote/identity.ts';
import { startServer, type TestServer } from './nginx.fixture.ts';

/** The web server of a host of a fleet. */
export interface FleetServer extends TestServer {
  hostId: string;
}

/** Web servers of several hosts, as the control plane introduces them to each other. */
export interface TestFleet {
  authority: Certified;
  servers: FleetServer[];
  close(): Promise<void>;
}

/** `changes`: options of each server. */
export async function startServers(
  count: number,
  changes: Parameters<typeof startServer>[0] = {},
): Promise<TestFleet> {
  const authority = await createEdgeAuthority(new Date());
  const servers: FleetServer[] = [];
  const close = async () => {
    await Promise.all(servers.map((server) => server.close()));
  };
  try {
    for (let place = 0; place < count; place++) {
      const server = await startServer(changes);
      servers.push({ ...server, hostId: randomUUID() });
      await server.web.start([]);
    }
    for (const server of servers) await introduce({ authority, servers }, server);
  } catch (error) {
    await close();
    throw error;
  }
  return { authority, servers, close };
}

/** Tells a server of all others. */
export async function introduce(
  { authority, servers }: Pick<TestFleet, 'authority' | 'servers'>,
  server: FleetServer,
): Promise<void> {
  const others = servers.filter((other) => other !== server);
  await server.web.joinEdges(
    await createEdgeIdentity(authority, server.hostId, new Date()),
    others.map(({ hostId, options }) => ({ hostId, ...options.edgeForward })),
  );
}

/** The route to an install. */
export function routeTo(state: Pick<InstallState, 'id' | 'hostnames'>, hostId: string | null): EdgeRoute {
  const names = state.hostnames.map(({ name, certificate }) => ({
    name,
    certificate: certificate && { chain: certificate.chain, key: certificate.key },
  }));
  return {
    installId: state.id,
    hostId,
    names,
    digest: hash('sha256', JSON.stringify([hostId, names]), 'hex'),
  };
}
