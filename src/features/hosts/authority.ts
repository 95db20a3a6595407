import { X509Certificate } from 'node:crypto';
import { createEdgeAuthority } from '../../hosting/remote/edge-identity.ts';
import {
  type Certified,
  type ClientIdentity,
  createAuthority,
  createClientIdentity,
} from '../../hosting/remote/identity.ts';
import { timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { findAuthority, insertAuthority, insertEdgeAuthority, updateAuthority } from './authority-store.ts';

/** The certificates for mutual authentication between this platform and its hosts. */
export interface HostAuthority {
  authority: Certified;
  client: ClientIdentity;
}

/** The control plane renews its own certificate this long before expiry. */
const RENEW_BEFORE_MS = 365 * DAY_MS;

type Parts = Pick<Platform, 'database' | 'sealer' | 'clock'>;

/** The authority, created by the first call. Its keys are sealed. */
export async function hostAuthority(platform: Parts): Promise<HostAuthority> {
  const { database, sealer, clock } = platform;
  const stored = (await read(platform)) ?? (await create(platform));
  const { validTo } = new X509Certificate(stored.client.certificate);
  if (Date.parse(validTo) - clock.now().getTime() > RENEW_BEFORE_MS) return stored;
  const client = await createClientIdentity(stored.authority, clock.now());
  const renewed = { client_certificate: client.certificate, sealed_client_key: sealer.seal(client.key) };
  await database.write(({ queries }) => updateAuthority(queries, renewed));
  return { ...stored, client };
}

/** The authority of the edges, created by the first call. Its key is sealed. */
export async function edgeAuthority(platform: Parts): Promise<Certified> {
  // It creates the row.
  await hostAuthority(platform);
  const { database, sealer, clock } = platform;
  const present = await readEdge(platform);
  if (present !== null) return present;
  const { certificate, key } = await createEdgeAuthority(clock.now());
  await database.write(({ queries }) =>
    insertEdgeAuthority(queries, { edge_certificate: certificate, sealed_edge_key: sealer.seal(key) }),
  );
  const written = await readEdge(platform);
  if (written === null) throw new Error('the authority of the edges was not written');
  return written;
}

async function readEdge({ database, sealer }: Parts): Promise<Certified | null> {
  const { edge_certificate = null, sealed_edge_key = null } = (await findAuthority(database.reader)) ?? {};
  if (edge_certificate === null || sealed_edge_key === null) return null;
  return { certificate: edge_certificate, key: sealer.open(sealed_edge_key) };
}

async function read({ database, sealer }: Parts): Promise<HostAuthority | undefined> {
  const row = await findAuthority(database.reader);
  if (!row) return undefined;
  return {
    authority: { certificate: row.certificate, key: sealer.open(row.sealed_key) },
    client: {
      certificate: row.client_certificate,
      key: sealer.open(row.sealed_client_key),
      ca: row.certificate,
    },
  };
}

/** Another process may create one at the same time; the first one stored wins. */
async function create(platform: Parts): Promise<HostAuthority> {
  const { database, sealer, clock } = platform;
  const authority = await createAuthority(clock.now());
  const client = await createClientIdentity(authority, clock.now());
  await database.write(({ queries }) =>
    insertAuthority(queries, {
      certificate: authority.certificate,
      sealed_key: sealer.seal(authority.key),
      client_certificate: client.certificate,
      sealed_client_key: sealer.seal(client.key),
      created_at: timestamp(clock),
    }),
  );
  const written = await read(platform);
  if (!written) throw new Error('the authority of the hosts was not written');
  return written;
}
