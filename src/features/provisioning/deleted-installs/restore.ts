import type { Transaction } from '../../../database/database.ts';
import { lockHostNames } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import type { Platform } from '../../../platform/platform.ts';
import { restoreBackup } from '../../backups/jobs.ts';
import { assignNames } from '../../domains/domains/name-assignment.ts';
import { insertDomain, ownDomainsOf, setRedirect, setSecureAllUrls } from '../../domains/domains/store.ts';
import { allHosts } from '../../hosts/store.ts';
import { provisionInstall } from '../../websites/installs/jobs.ts';
import {
  addToInstallCount,
  findSiteOfAccount,
  insertDefaultDomain,
  insertInstall,
  isSlotTaken,
} from '../../websites/installs/store.ts';
import { saveRules } from '../../websites/rules/store.ts';
import type { Kept } from './kept.ts';
import { type DeletedInstall, deleteDeleted } from './store.ts';

type Parts = Pick<Platform, 'config' | 'queue' | 'activity' | 'clock' | 'random'>;

/**
 * Creates the install again under its id and name, with the site and the domains that are free. After the provisioning, its backup is
 * restored. The name must be free. Returns the id of the operation that ends last.
 */
export async function restoreInstall(
  transaction: Transaction,
  platform: Parts,
  deleted: DeletedInstall,
  requestId: string | null,
): Promise<string> {
  const { queue, config, clock, random } = platform;
  const { queries } = transaction;
  const { id, account_id, name, host_id, kept, backup_id } = deleted;
  const now = timestamp(clock);
  await insertInstall(queries, {
    ...{ id, account_id, name, host_id },
    ...(await placeOf(transaction, deleted)),
    ...(await versionsOf(transaction, host_id, kept)),
    status: 'pending',
    stable_ips: null,
    defer_wordpress_until: kept.defer_wordpress_until,
    ...{ mail_limit: kept.mail_limit, mail_allowance: kept.mail_allowance },
    ...{ offload_file_name: kept.offload_file_name, offload_file_content: kept.offload_file_content },
    created_at: kept.created_at,
  });
  await addToInstallCount(queries, account_id, 1);
  const defaultName = defaultDomain(name, config.siteDomain);
  await insertDefaultDomain(queries, {
    id: random.uuid(),
    install_id: id,
    name: defaultName,
    created_at: now,
  });
  await restoreDomains(transaction, platform, deleted, requestId);
  await restoreRows(transaction, deleted, now);
  await deleteDeleted(queries, id);
  await queue.enqueue(transaction, provisionInstall, {
    payload: { id },
    lane: id,
    requestId,
    result: { install_id: id },
  });
  return queue.enqueue(transaction, restoreBackup, {
    payload: { backup_id, install_id: id },
    lane: id,
    requestId,
    result: { backup_id },
  });
}

/** The site and environment, as far as they are free. */
async function placeOf({ queries }: Transaction, { account_id, kept }: DeletedInstall) {
  const { site_id, environment } = kept;
  if (site_id === null || !(await findSiteOfAccount(queries, site_id, account_id))) {
    return { site_id: null, environment: null };
  }
  const isFree = environment === null || !(await isSlotTaken(queries, site_id, environment));
  return { site_id, environment: isFree ? environment : null };
}

/** The versions that the host still has; the newest ones instead of others. */
async function versionsOf({ queries }: Transaction, hostId: string | null, kept: Kept) {
  const host = (await allHosts(queries)).find(({ id }) => id === hostId);
  const offered = (versions: readonly string[] | undefined, version: string | null) =>
    version !== null && versions?.includes(version) ? version : null;
  return {
    php_version: offered(host?.description?.phpVersions, kept.php_version),
    wordpress_version: offered(host?.description?.wordpressVersions, kept.wordpress_version),
  };
}

/** Adds the domains that no other install has now. */
async function restoreDomains(
  transaction: Transaction,
  platform: Parts,
  { id, kept }: DeletedInstall,
  requestId: string | null,
): Promise<void> {
  const { queries } = transaction;
  const { clock, random } = platform;
  await lockHostNames(transaction);
  const names = kept.domains.map(({ name }) => name);
  const taken = new Set(
    names.length === 0
      ? []
      : (await queries.selectFrom('domains').select('name').where('name', 'in', names).execute()).map(
          ({ name }) => name,
        ),
  );
  const free = kept.domains.filter(({ name }) => !taken.has(name));
  for (const { name } of free) {
    const domain = { id: random.uuid(), install_id: id, name, needs_proof: false };
    await insertDomain(queries, { ...domain, created_at: timestamp(clock) });
  }
  const freeNames = free.map(({ name }) => name);
  await assignNames(transaction, platform, freeNames, { requestId, applied: id });
  const own = await ownDomainsOf(queries, id);
  const idOf = new Map(own.map((domain) => [domain.name, domain.id]));
  for (const { name, is_primary, secure_all_urls, redirect_to } of free) {
    const domainId = idOf.get(name);
    // Another account may have to prove nothing, and this one its ownership.
    if (domainId === undefined) continue;
    if (is_primary) await makePrimary(transaction, id, domainId);
    await setSecureAllUrls(queries, domainId, secure_all_urls);
    const target = redirect_to === null ? undefined : idOf.get(redirect_to);
    if (target !== undefined) await setRedirect(queries, domainId, target);
  }
}

async function makePrimary({ queries }: Transaction, installId: string, domainId: string): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ is_primary: false })
    .where('install_id', '=', installId)
    .where('is_primary', '=', true)
    .execute();
  await queries.updateTable('domains').set({ is_primary: true }).where('id', '=', domainId).execute();
}

/** Adds the rules for visitors, the backups, and the partial users who are still in the account. */
async function restoreRows(
  { queries }: Transaction,
  { id, account_id, kept }: DeletedInstall,
  now: string,
): Promise<void> {
  if (kept.rules !== null) await saveRules(queries, id, kept.rules, now);
  for (const backup of kept.backups) {
    await queries
      .insertInto('backups')
      .values({
        ...backup,
        install_id: id,
        notification_emails: '[]',
        status: 'completed',
        reason: null,
        requested_by: null,
      })
      .execute();
  }
  if (kept.users.length === 0) return;
  const members = await queries
    .selectFrom('memberships')
    .select('user_id')
    .where('account_id', '=', account_id)
    .where('user_id', 'in', kept.users)
    .where('role', '=', 'partial')
    .execute();
  for (const { user_id } of members) {
    await queries.insertInto('install_grants').values({ user_id, account_id, install_id: id }).execute();
  }
}
