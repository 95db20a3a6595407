import { OPERATOR } from '../../../access/caller.ts';
import type { Queries } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { InvalidRequest } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { CapabilityReader } from '../../hosts/capabilities.ts';
import type { HeldWordPress } from '../../hosts/held-wordpress.ts';
import { findHost } from '../../hosts/store.ts';
import { switchWordpress } from './jobs.ts';
import { requireNamed } from './requested-website.ts';

/** A requested switch of WordPress versions. */
export interface RequestedSwitch {
  jobId: string;
  installId: string;
  /** The present version. */
  from: string | null;
}

/**
 * For the command line: switches an install, by name, to a WordPress version that its host has. `isForced`: also while its users defer
 * upgrades. Throws InvalidRequest.
 */
export function createCoreSwitch(
  { database, queue, activity, clock }: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock'>,
  capabilities: Pick<CapabilityReader, 'require'>,
  heldWordPress: HeldWordPress,
) {
  return async (name: string, version: string, isForced = false): Promise<RequestedSwitch> =>
    database.write(async (transaction) => {
      const { queries } = transaction;
      const install = await requireNamed(queries, name);
      if (install.status !== 'active') {
        throw new InvalidRequest(
          `The install "${name}" is ${install.status}; only an active one can be switched.`,
        );
      }
      await capabilities.require(queries, install, 'wordpress_updates');
      const deferral = install.defer_wordpress_until;
      if (!isForced && deferral !== null && deferral > timestamp(clock)) {
        throw new InvalidRequest(
          `The users of "${name}" have deferred upgrades of WordPress until ${deferral}; "--force" switches it anyway.`,
        );
      }
      const held = await heldWordPress(queries, install.host_id);
      if (!held.includes(version)) throw new InvalidRequest(await notHeld(queries, install, version, held));
      await lockRow(transaction, 'installs', install.id);
      const jobId = await queue.enqueue(transaction, switchWordpress, {
        payload: { id: install.id, version },
        lane: install.id,
        result: { version },
      });
      await activity.record(transaction, OPERATOR, install.account_id, {
        action: 'install.switch_core',
        subject: { id: install.id, name },
        installId: install.id,
        details: { from: install.wordpress_version, to: version },
      });
      return { jobId, installId: install.id, from: install.wordpress_version };
    });
}

async function notHeld(
  queries: Queries,
  { name, host_id }: { name: string; host_id: string | null },
  version: string,
  held: readonly string[],
): Promise<string> {
  const host = host_id === null ? undefined : await findHost(queries, { id: host_id });
  const owner = host === undefined ? `The host of "${name}"` : `The host ${host.name}`;
  const remedy = host === undefined ? '' : ` "homeport host wordpress ${host.name}" fetches the newest.`;
  return `${owner} has no WordPress ${version}; it has ${held.join(', ') || 'none'}.${remedy}`;
}
