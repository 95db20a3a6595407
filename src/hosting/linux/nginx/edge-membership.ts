import { createPrivateKey, hash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, isIP } from 'node:net';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { writeDurably } from '../../../lib/durable-file.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { EdgeForwarding, EdgeIdentity } from '../../contract/edge-routes.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { certificateFingerprint } from '../../remote/edge-identity.ts';
import type { TablePaths } from './edge-options.ts';
import type { ForwardingOptions } from './forwarded-requests.ts';

/** This host's edge as one of the fleet: the certificate that other edges accept, and where it listens for them. */
export interface EdgeMembership {
  /** For nginx's configuration; null before the host has an identity, and if its files are damaged. */
  options(): Promise<ForwardingOptions | null>;
  /** Null if the host takes no part. */
  describe(): Promise<Omit<EdgeForwarding, 'reaches'> | null>;
  /** Keeps an identity. Rejects with a {@link PermanentHostError} for one that nginx could not use, and if the first one has no port to listen on. */
  accept(identity: EdgeIdentity): Promise<void>;
  /** Forgets the identity, so that the host forwards nothing. */
  forget(): Promise<void>;
}

const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** `listen`: null if the host takes no part. */
export function createEdgeMembership(
  paths: Pick<TablePaths, 'identity' | 'authority'>,
  listen: ListenAddress | null,
): EdgeMembership {
  async function kept(): Promise<{ pem: string; authority: string } | null> {
    const pem = await ifThere(readFile(paths.identity, 'utf8'));
    const authority = await ifThere(readFile(paths.authority, 'utf8'));
    if (pem === null || authority === null) return null;
    // nginx would not start with it, and the control plane sends another one if there is none.
    return identityFault({ certificate: pem, key: pem, authority }) === null ? { pem, authority } : null;
  }

  return {
    async options() {
      const identity = await kept();
      if (identity === null || listen === null) return null;
      return {
        listen,
        identity: paths.identity,
        authority: paths.authority,
        fingerprint: hash('sha256', identity.pem + identity.authority, 'hex'),
      };
    },

    async describe() {
      if (listen === null) return null;
      const identity = await kept();
      const { host, port } = listen;
      return {
        host: isIP(host) === 0 || EVERY_ADDRESS.includes(host) ? null : host.toLowerCase(),
        port,
        identity: identity && {
          authority: certificateFingerprint(identity.authority),
          notAfter: new Date(new X509Certificate(identity.pem).validTo).toISOString(),
        },
      };
    },

    async accept(identity) {
      if (listen === null) {
        throw new PermanentHostError('this host takes no part in forwarding (setting HOMEPORT_EDGE_FORWARD)');
      }
      const fault = identityFault(identity);
      if (fault !== null) throw fault;
      // nginx would not start if another program had the port.
      if ((await kept()) === null) await requireFree(listen);
      // The identity comes last: without it, the authority counts for nothing.
      await writeDurably(paths.authority, identity.authority);
      await writeDurably(paths.identity, `${identity.certificate}${identity.key}`);
    },

    async forget() {
      await rm(paths.identity, { force: true });
    },
  };
}

/** Why an identity cannot be used; null if it can. */
function identityFault({ certificate, key, authority }: EdgeIdentity): PermanentHostError | null {
  try {
    const own = new X509Certificate(certificate);
    if (own.checkPrivateKey(createPrivateKey(key)) && own.verify(new X509Certificate(authority).publicKey)) {
      return null;
    }
  } catch (cause) {
    return new PermanentHostError('the certificate for other edges cannot be used', { cause });
  }
  return new PermanentHostError('the certificate for other edges does not match its key or its authority');
}

async function requireFree(listen: ListenAddress): Promise<void> {
  const server = createServer();
  server.listen(listen);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new PermanentHostError(
      `this host cannot listen for other edges on ${hostAndPort(listen)}: ${messageOf(cause)} (setting HOMEPORT_EDGE_FORWARD)`,
      { cause },
    );
  }
  server.close();
  await once(server, 'close');
}
