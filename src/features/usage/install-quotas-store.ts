import type { Queries } from '../../database/database.ts';
import type { InstallQuotaRow } from '../../database/tables/usage.ts';
import type { MeasuredStorage } from '../../hosting/contract/usage.ts';
import { resolveNotifications } from '../accounts/notifications/resolving-store.ts';

/** Percentages of a limit at which people are warned, the highest first. */
const THRESHOLDS = [100, 90, 80] as const;
/** A threshold is left only this many points below it, so that a website close to it is not warned again and again. */
const MARGIN = 5;

/** The highest threshold in percent that the usage has reached, or has not left yet; 0 below all. `before`: the former one. */
export function warnedThreshold(used: number, allowed: number, before: number): number {
  return THRESHOLDS.find((one) => used * 100 >= allowed * (one <= before ? one - MARGIN : one)) ?? 0;
}

/** How far an install has used a limit of its files. */
export type InstallQuota = Pick<InstallQuotaRow, 'limited' | 'used' | 'allowed'>;

/**
 * Stores how far an install has used its limits. A trigger writes an event for each reached threshold, and notifications, emails and
 * webhooks follow from it. Ends the notifications of thresholds that usage has left.
 */
export async function storeInstallQuotas(
  queries: Queries,
  installId: string,
  measured: MeasuredStorage,
  now: string,
): Promise<void> {
  const known = await queries
    .selectFrom('install_quotas')
    .select(['limited', 'threshold'])
    .where('install_id', '=', installId)
    .execute();
  const former = new Map(known.map(({ limited, threshold }) => [limited, threshold]));
  const present = limitsOf(measured);
  let isLower = false;
  for (const { limited, used, allowed } of present) {
    const before = former.get(limited) ?? 0;
    const threshold = warnedThreshold(used, allowed, before);
    const changing = { used, allowed, threshold, measured_at: now };
    await queries
      .insertInto('install_quotas')
      .values({ install_id: installId, limited, ...changing })
      .onConflict((conflict) => conflict.columns(['install_id', 'limited']).doUpdateSet(changing))
      .execute();
    former.delete(limited);
    isLower ||= threshold < before;
  }
  // The operator has lifted these limits, or the install is on another host.
  for (const [limited, threshold] of former) {
    await queries
      .deleteFrom('install_quotas')
      .where('install_id', '=', installId)
      .where('limited', '=', limited)
      .execute();
    isLower ||= threshold > 0;
  }
  if (isLower) await resolveNotifications(queries, now);
}

function limitsOf({ fileBytes, files, limits }: MeasuredStorage): InstallQuota[] {
  const limit = (limited: InstallQuota['limited'], used?: number, allowed?: number | null) =>
    used === undefined || allowed === undefined || allowed === null ? [] : [{ limited, used, allowed }];
  return [...limit('disk', fileBytes, limits?.bytes), ...limit('files', files, limits?.files)];
}

/** The limits of an install, as last measured. */
export async function findInstallQuotas(queries: Queries, installId: string): Promise<InstallQuota[]> {
  return queries
    .selectFrom('install_quotas')
    .select(['limited', 'used', 'allowed'])
    .where('install_id', '=', installId)
    .orderBy('limited')
    .execute();
}
