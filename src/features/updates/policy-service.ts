import { type Caller, OPERATOR } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import { changeFor, readFor } from '../../access/request-transactions.ts';
import type { Transaction } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import { timestamp } from '../../lib/clock.ts';
import { invalidValue } from '../../lib/failures.ts';
import type { Actor } from '../../platform/activity-log.ts';
import type { Platform } from '../../platform/platform.ts';
import type { CapabilityReader } from '../hosts/capabilities.ts';
import { lockNamed } from '../websites/installs/requested-website.ts';
import { findInstallAccess, findSettings } from '../websites/installs/store.ts';
import { isTimeZone, type UpdatePolicy } from './policy.ts';
import { findPolicy, savePolicy } from './policy-store.ts';

/** The policy of an install, with the time until which WordPress itself stays as it is. */
export type SeenPolicy = UpdatePolicy & { deferredUntil: string | null };

export type PolicyService = ReturnType<typeof createPolicyService>;

/** The policies of installs for automatic updates. */
export function createPolicyService(
  { database, activity, clock }: Pick<Platform, 'database' | 'activity' | 'clock'>,
  capabilities: Pick<CapabilityReader, 'requireOf'>,
) {
  const get = (caller: Caller, installId: string): Promise<SeenPolicy> =>
    readFor(database, caller, async (reader) => {
      const install = await findInstallAccess(reader, caller, installId);
      authorize('install.read', 'install.read', install);
      await capabilities.requireOf(reader, installId, 'wordpress_updates');
      const { defer_wordpress_upgrades_until: deferredUntil } = await findSettings(reader, installId);
      return { ...(await findPolicy(reader, installId)), deferredUntil };
    });

  /** Changes the policy of a locked install. Throws CapabilityUnavailable. */
  async function change(
    transaction: Transaction,
    doer: Actor,
    { id, name, account_id }: { id: string; name: string; account_id: string },
    wanted: Partial<UpdatePolicy>,
  ): Promise<UpdatePolicy> {
    const { queries } = transaction;
    await capabilities.requireOf(queries, id, 'wordpress_updates');
    const before = await findPolicy(queries, id);
    const policy = { ...before, ...wanted };
    const details = changes(before, policy);
    if (Object.keys(details).length === 0) return before;
    await savePolicy(queries, id, policy, timestamp(clock));
    await activity.record(transaction, doer, account_id, {
      action: 'install.update_policy',
      subject: { id, name },
      installId: id,
      details,
    });
    return policy;
  }

  return {
    /** Throws NotFound, CapabilityUnavailable. */
    get,

    /** For the command line: by name. Without a change, it only reads. Throws InvalidRequest, CapabilityUnavailable. */
    byName: (name: string, wanted: Partial<UpdatePolicy>): Promise<UpdatePolicy> =>
      database.write(async (transaction) => {
        const website = await lockNamed(transaction, name);
        return change(transaction, OPERATOR, website, wanted);
      }),

    /** Throws NotFound, Forbidden, InvalidRequest, CapabilityUnavailable. */
    async update(caller: Caller, installId: string, wanted: Partial<UpdatePolicy>): Promise<SeenPolicy> {
      const zone = wanted.window?.time_zone;
      if (zone !== undefined && !isTimeZone(zone)) {
        throw invalidValue(
          'WordPressUpdatePolicy',
          'maintenance_window.time_zone',
          'unknown',
          `The time zone "${zone}" is unknown; name one such as Europe/Berlin, or UTC`,
        );
      }
      await changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(transaction.queries, caller, installId);
        authorize('install.work', 'install.read', install);
        await change(transaction, caller, install, wanted);
      });
      return get(caller, installId);
    },
  };
}

const UPDATE_POLICY_FIELDS = ['core', 'plugins', 'themes', 'window', 'pages'] as const;

/** The changed fields for the activity log. */
function changes(before: UpdatePolicy, after: UpdatePolicy): Record<string, string | null> {
  const { window } = after;
  const described = {
    core: after.core,
    plugins: after.plugins,
    themes: after.themes,
    window:
      window &&
      `${window.days.join(', ')}, ${window.hours} h from ${window.from_hour}:00 ${window.time_zone}`,
    pages: after.pages.join(' ').slice(0, 500),
  };
  return Object.fromEntries(
    UPDATE_POLICY_FIELDS.filter(
      (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
    ).map((field) => [field, described[field]]),
  );
}
