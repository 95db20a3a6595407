import type { Transaction } from '../../../database/database.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { DomainRow } from './store.ts';

type Settings = Pick<DomainRow, 'is_primary' | 'redirect_to_name' | 'secure_all_urls'>;

/** Settings of a new domain. */
export const NEW_NAME: Settings = { is_primary: false, redirect_to_name: null, secure_all_urls: false };

/** The changed settings of a domain, in the API's terms. */
export function changesBetween(before: Settings, now: Settings): Record<string, string | boolean | null> {
  return {
    ...(before.is_primary === now.is_primary ? {} : { primary: now.is_primary }),
    ...(before.redirect_to_name === now.redirect_to_name ? {} : { redirect_to: now.redirect_to_name }),
    ...(before.secure_all_urls === now.secure_all_urls ? {} : { secure_all_urls: now.secure_all_urls }),
  };
}

/** Records a change of a domain in the account's activity. */
export async function recordDomain(
  transaction: Transaction,
  { activity }: Pick<Platform, 'activity'>,
  actor: Actor,
  change: {
    accountId: string;
    action: 'domain.create' | 'domain.update' | 'domain.delete';
    domain: DomainRow;
    details?: Record<string, string | boolean | null>;
  },
): Promise<void> {
  const { accountId, action, domain, details } = change;
  await activity.record(transaction, actor, accountId, {
    action,
    subject: { id: domain.id, name: domain.name },
    installId: domain.install_id,
    ...(details === undefined ? {} : { details }),
  });
}
