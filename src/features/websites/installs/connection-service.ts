import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { offeredBy } from '../../../hosting/policy/capabilities.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { HostingAddresses } from '../../hosts/hosting-addresses.ts';
import { findHost, placeOf } from '../../hosts/store.ts';
import { addressesOf, type Connection, configuredAddresses, connectionOf } from './connection.ts';
import { prepareFindInstall } from './store.ts';
import { findWebsiteName } from './website-name.ts';

/** The embedded host of this platform. */
export interface OwnHost {
  /** The addresses it listens on, if it runs in this process. */
  listening(): HostingAddresses | null;
  /** SSH host keys, each `type base64`; empty if another process holds them. */
  sshHostKeys(): Promise<string[]>;
}

interface ReachedHost {
  addresses: HostingAddresses;
  publicName: string | null;
  hostKeys: string[];
}

export type ConnectionService = ReturnType<typeof createConnectionService>;

/** Tells users how to reach an install. */
export function createConnectionService({ config, database }: Platform, own: OwnHost) {
  const { reader } = database;
  const findSeen = prepareFindInstall(database);
  const isLinux = config.host === 'linux';

  /** The host of an install; null until its addresses are known. */
  async function hostOf(installId: string): Promise<ReachedHost | null> {
    if (!isLinux) {
      const addresses = own.listening() ?? configuredAddresses(config);
      return addresses && { addresses, publicName: null, hostKeys: await own.sshHostKeys() };
    }
    const place = await placeOf(reader, installId);
    if (place === undefined || place.hostId === null) return null;
    const host = await findHost(reader, { id: place.hostId });
    const addresses = host === undefined ? null : addressesOf(host, config);
    if (host === undefined || addresses === null) return null;
    return { addresses, publicName: host.public_name, hostKeys: host.description?.sshHostKeys ?? [] };
  }

  /** How to reach an install; null while unknown. */
  async function of(install: {
    id: string;
    name: string;
    primary_domain: string | null;
  }): Promise<Connection | null> {
    const host = await hostOf(install.id);
    if (host === null) return null;
    const primaryDomain = install.primary_domain ?? defaultDomain(install.name, config.siteDomain);
    const website = (await findWebsiteName(reader, install.id)) ?? {
      name: primaryDomain,
      isTrusted: false,
    };
    return connectionOf({ name: install.name, primaryDomain, website }, host.addresses, {
      publicUrl: config.publicUrl,
      shell: offeredBy(config.host).includes('shell'),
      publicName: host.publicName,
      hostKeys: host.hostKeys,
    });
  }

  return {
    of,

    /** How to reach an install; null if unknown so far or if provisioning failed. Throws NotFound. */
    async find(caller: Caller, installId: string): Promise<Connection | null> {
      const seen = await findSeen(installId, caller);
      authorize('install.read', 'install.read', seen);
      const { install } = seen;
      return install.status === 'failed' ? null : of(install);
    },
  };
}
