import type { Transaction } from '../../../database/database.ts';
import { lockHostNames } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import { FaultCollection } from '../../../lib/fault-collection.ts';
import type { Platform } from '../../../platform/platform.ts';
import { restoreBackup } from '../../backups/jobs.ts';
import { createNameAdder } from '../../domains/domains/add-names.ts';
import { portalHostOf } from '../../domains/domains/portal-host.ts';
import { newDomainsSchema } from '../../domains/domains/schema.ts';
import { ownDomainsOf, setPrimary, setRedirect, setSecureAllUrls } from '../../domains/domains/store.ts';
import { allHosts } from '../../hosts/store.ts';
import { savePolicy } from '../../updates/policy-store.ts';
import { provisionInstall } from '../../websites/installs/jobs.ts';
import {
  addToInstallCount,
  findSiteOfAccount,
  insertDefaultDomain,
  insertInstall,
  isSlotTaken,
} from '../../websites/installs/store.ts';
import { enforceOffload, requestOffload } from '../../websites/offload/store.ts';
import { storePhpLimits } from '../../websites/php/limits-store.ts';
import { saveRules } from '../../websites/rules/store.ts';
import { columnsOf, type Kept } from './kept.ts';
import { grantAgain, insertKeptBackup, insertKeptCertificate } from './restore-store.ts';
import { type DeletedInstall, deleteDeleted } from './store.ts';

/** Names of domains in the result of an operation. */
const MOST_NAMED = 50;

export interface Restored {
  operationId: string;
  /** Names that the install had and does not serve now. */
  withheld: string[];
}

/**
 * Creates the install again under its id and name, with the site if it is free, and its domains. After the provisioning, its backup is
 * restored. The name must be free. Returns the id of the operation that ends last, and the domains that the install does not serve again.
 */
export async function restoreInstall(
  transaction: Transaction,
  platform: Platform,
  deleted: DeletedInstall,
  requestId: string | null,
): Promise<Restored> {
  const { queue, config, clock, random } = platform;
  const { queries } = transaction;
  const { id, account_id, name, host_id, kept, backup_id } = deleted;
  const now = timestamp(clock);
  await insertInstall(queries, {
    ...columnsOf(kept),
    ...{ id, account_id, name, host_id },
    ...(await placeOf(transaction, deleted)),
    ...(await versionsOf(transaction, host_id, kept)),
    status: 'pending',
    stable_ips: null,
  });
  await addToInstallCount(queries, account_id, 1);
  const defaultName = defaultDomain(name, config.siteDomain);
  await insertDefaultDomain(queries, {
    id: random.uuid(),
    install_id: id,
    name: defaultName,
    created_at: now,
  });
  const withheld = await restoreDomains(transaction, platform, deleted, requestId);
  await restoreRows(transaction, deleted, now);
  await deleteDeleted(queries, id);
  await queue.enqueue(transaction, provisionInstall, {
    payload: { id },
    lane: id,
    requestId,
    result: { install_id: id },
  });
  const operationId = await queue.enqueue(transaction, restoreBackup, {
    payload: { backup_id, install_id: id },
    lane: id,
    requestId,
    result: { backup_id, ...(withheld.length === 0 ? {} : { withheld_domains: listed(withheld) }) },
  });
  return { operationId, withheld };
}

/** The first names, separated by commas. */
function listed(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
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

/**
 * Adds the domains by the same rules as new ones, because another account may own a name by now. Names that the install does not serve
 * stay withheld, as after an addition. Names that the platform reserves by now are left out. Returns both.
 */
async function restoreDomains(
  transaction: Transaction,
  platform: Platform,
  { id, account_id, kept }: DeletedInstall,
  requestId: string | null,
): Promise<string[]> {
  const { queries } = transaction;
  const { config, random } = platform;
  await lockHostNames(transaction);
  const addNames = createNameAdder(platform, {
    siteDomain: config.siteDomain,
    portalHost: portalHostOf(config),
  });
  const given = kept.domains.map(({ name }, index) => ({
    ...{ id: random.uuid(), field: `domains.${index}.name` },
    text: name,
  }));
  const receiver = { installId: id, accountId: account_id, requestId };
  await addNames(transaction, receiver, given, new FaultCollection(newDomainsSchema));
  const served = await ownDomainsOf(queries, id);
  const idOf = new Map(served.map((domain) => [domain.name, domain.id]));
  for (const { name, is_primary, secure_all_urls, redirect_to } of kept.domains) {
    const domainId = idOf.get(name);
    if (domainId === undefined) continue;
    if (is_primary) await setPrimary(queries, id, domainId);
    await setSecureAllUrls(queries, domainId, secure_all_urls);
    const target = redirect_to === null ? undefined : idOf.get(redirect_to);
    if (target !== undefined) await setRedirect(queries, domainId, target);
  }
  for (const { domain, ...certificate } of kept.certificates ?? []) {
    const domainId = idOf.get(domain);
    if (domainId !== undefined) await insertKeptCertificate(queries, domainId, certificate);
  }
  return kept.domains.map(({ name }) => name).filter((name) => !idOf.has(name));
}

/** Adds the rules for visitors, the backups, and the partial users who are still in the account. */
async function restoreRows(
  { queries }: Transaction,
  { id, account_id, kept }: DeletedInstall,
  now: string,
): Promise<void> {
  if (kept.rules !== null) await saveRules(queries, id, kept.rules, now);
  if (kept.php_limits) await storePhpLimits(queries, id, kept.php_limits);
  if (kept.update_policy) await savePolicy(queries, id, kept.update_policy, now);
  if (kept.offload) {
    // The bucket was verified for this install, whose validation file is the same.
    await requestOffload(queries, id, kept.offload, now);
    await enforceOffload(queries, id, kept.offload, { latest: true, now });
  }
  for (const backup of kept.backups) await insertKeptBackup(queries, id, backup);
  await grantAgain(queries, { id, account_id }, kept.users);
}
