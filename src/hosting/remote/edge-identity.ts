import { hash, X509Certificate } from 'node:crypto';
import type { EdgeIdentity } from '../contract/edge-routes.ts';
import { type Certified, CLIENT_AUTH, createAuthority, issue, SERVER_AUTH } from './identity.ts';

/** An edge's certificate has the name of its host's id and this, so that no edge can pose as another. */
export const EDGE_NAME_SUFFIX = '.edge.homeport.internal';

/**
 * A new authority for the edges of one platform. It is not that of the hosts: an edge is also a client, and hosts obey every client with a
 * certificate from theirs.
 */
export const createEdgeAuthority = (now: Date): Promise<Certified> => createAuthority(now, 'Homeport edges');

/** The common name is the host's id, which nginx shows to Lua. */
export async function createEdgeIdentity(
  authority: Certified,
  hostId: string,
  now: Date,
): Promise<EdgeIdentity> {
  const certified = await issue(authority, {
    name: `${hostId}${EDGE_NAME_SUFFIX}`,
    subject: `CN=${hostId}`,
    purposes: [SERVER_AUTH, CLIENT_AUTH],
    now,
  });
  return { ...certified, authority: authority.certificate };
}

/** SHA-256 of a certificate in PEM, hex. */
export function certificateFingerprint(certificate: string): string {
  return hash('sha256', new X509Certificate(certificate).raw, 'hex');
}
