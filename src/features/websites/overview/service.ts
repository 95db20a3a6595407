import { domainToASCII } from 'node:url';
import type { Static } from 'typebox';
import type { Caller } from '../../../access/caller.ts';
import { findMembership, loadScope, type Scope } from '../../../access/memberships.ts';
import { authorize } from '../../../access/permissions.ts';
import type { Queries } from '../../../database/database.ts';
import type { InstallQuotaRow } from '../../../database/tables/usage.ts';
import { timestamp } from '../../../lib/clock.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { OperationKind } from '../../../lib/operation.ts';
import type { LongReads } from '../../../platform/long-reads.ts';
import type { Platform } from '../../../platform/platform.ts';
import { countInstalls } from '../installs/list-store.ts';
import { tagsIn } from '../site-tags/tag-keys.ts';
import { type InstallConditions, LIST_SORTS } from './install-conditions.ts';
import { countListed } from './listed-conditions-store.ts';
import { pageOfListed } from './listed-installs.ts';
import { matchingInstalls } from './listed-installs-store.ts';
import { listSites, SITE_SORTS } from './listed-sites.ts';
import type {
  attentionSchema,
  listedInstallSchema,
  onboardingSchema,
  reasonSchema,
  selectedInstallSchema,
} from './schema.ts';
import { isSearchedInParts, searchInstalls, searchSites } from './search-parts-store.ts';
import {
  closedInstalls,
  countInNeed,
  type DoubtfulDomain,
  doubtfulDomains,
  failedBackups,
  failedInstalls,
  installsByDomain,
  installsInNeed,
  lastFailedOperations,
  reachedQuotas,
  stepsTaken,
} from './store.ts';

export type Attention = Static<typeof attentionSchema>;
export type Onboarding = Static<typeof onboardingSchema>;
export type ListedInstall = Static<typeof listedInstallSchema>;
type SelectedInstall = Static<typeof selectedInstallSchema>;
type Reason = Static<typeof reasonSchema>;

/** The filters of a list of installs, as the portal sends them. */
export type ListFilters = Pick<InstallConditions, 'status' | 'environment' | 'site' | 'tags'> & {
  search?: string | undefined;
};

/** The requested part of a list. `sort`: a column; with `-`, descending. */
export interface ListRequest {
  sort: string;
  limit: number;
  offset: number;
}

/** The portal selects so many installs at once; it works on them in batches. */
const MOST_SELECTED = 10_000;

/** Renewal starts with a third of the lifetime left; a certificate not renewed by now needs attention. */
const ENDS_SOON_MS = 14 * DAY_MS;
/** Limits of disk space are set in this unit. */
const GB = 1024 ** 3;

export type OverviewService = ReturnType<typeof createOverviewService>;

/** Summaries over all installs of an account. */
export function createOverviewService(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  { dailyBackups, siteDomain }: { dailyBackups: boolean; siteDomain: string },
  longReads: LongReads,
) {
  async function scopeOf(reader: Queries, caller: Caller, accountId: string): Promise<Scope> {
    const member = await findMembership(reader, caller, accountId);
    authorize('install.read', 'account.read', member && { ...member, own: true });
    return loadScope(reader, caller, accountId);
  }

  const soon = () => timestamp(clock, ENDS_SOON_MS);

  /** The conditions of a list. In a large account, the installs that contain a text are found here, before the snapshot of the list. */
  async function searched(
    caller: Caller,
    accountId: string,
    filters: ListFilters,
    gone: AbortSignal,
  ): Promise<InstallConditions> {
    const conditions = conditionsOf(filters);
    if (conditions.texts.length === 0) return conditions;
    const scope = await scopeOf(database.reader, caller, accountId);
    if (!isSearchedInParts(scope, conditions)) return conditions;
    const found = await longReads.run(accountId, gone, (inTurn) =>
      searchInstalls(database.reader, scope, conditions, inTurn),
    );
    return { ...conditions, found: found.map(({ id }) => id) };
  }

  /** The sites of a large account that contain a text, or have an install that does, with these tags; undefined for others. */
  async function foundSites(
    caller: Caller,
    accountId: string,
    text: string,
    conditions: InstallConditions,
    gone: AbortSignal,
  ): Promise<string[] | undefined> {
    if (text === '') return undefined;
    const scope = await scopeOf(database.reader, caller, accountId);
    if (!isSearchedInParts(scope, conditions)) return undefined;
    return longReads.run(accountId, gone, async (inTurn) => {
      const named = await searchSites(database.reader, scope, text, conditions.tags, inTurn);
      const installs = await searchInstalls(database.reader, scope, conditions, inTurn);
      return [...new Set([...named, ...installs.flatMap(({ site_id }) => site_id ?? [])])];
    });
  }

  function conditionsOf({ search, ...filters }: ListFilters): InstallConditions {
    return { texts: textsOf(search ?? ''), ...filters, soon: soon() };
  }

  /** The reasons why these installs need attention, by install. `ids`: of a scope. */
  async function reasonsIn(
    reader: Queries,
    scope: Scope,
    ids: readonly string[],
  ): Promise<Map<string, Attention>> {
    const [installs, closed, backups, limits, domains, operations] = await Promise.all([
      failedInstalls(reader, ids),
      closedInstalls(reader, ids),
      failedBackups(reader, ids),
      reachedQuotas(reader, ids),
      doubtfulDomains(reader, soon(), ids),
      lastFailedOperations(reader, ['install.create', 'backup.create'], ids),
    ]);
    const mayCreate = scope.whole.length > 0 && scope.installIds === null;
    const repeatable = (kind: OperationKind, installId: string) =>
      operations.find((one) => one.kind === kind && one.install_id === installId)?.id ?? null;
    const found = new Map<string, Attention>();
    const add = ({ install_id, install_name }: Omit<Attention, 'reasons'>, reason: Reason) => {
      const known = found.get(install_id);
      if (known === undefined) found.set(install_id, { install_id, install_name, reasons: [reason] });
      else known.reasons.push(reason);
    };
    const nothing = { domain: null, at: null, reason: null, retry_operation_id: null };
    for (const install of installs) {
      const retry_operation_id = mayCreate ? repeatable('install.create', install.install_id) : null;
      add(install, { ...nothing, kind: 'install_failed', retry_operation_id });
    }
    for (const { lost_data, ...install } of closed)
      add(install, { ...nothing, kind: 'data_lost', reason: lost_data });
    for (const { finished_at, reason, checkpoint, ...install } of backups) {
      // A checkpoint is a part of other work.
      const retry_operation_id = checkpoint ? null : repeatable('backup.create', install.install_id);
      add(install, { ...nothing, kind: 'backup_failed', at: finished_at, reason, retry_operation_id });
    }
    for (const { install_id, install_name, measured_at, ...limit } of limits) {
      const reason = quotaSentence(limit);
      add({ install_id, install_name }, { ...nothing, kind: 'limit_reached', at: measured_at, reason });
    }
    for (const domain of domains) add(domain, reasonOf(domain));
    return found;
  }

  return {
    /**
     * One page of an account's installs, with the number of those that match and of all. `gone` aborts when the client disconnects. Throws
     * NotFound, RateLimited.
     */
    async listInstalls(
      caller: Caller,
      accountId: string,
      filters: ListFilters,
      { sort, limit, offset }: ListRequest,
      gone: AbortSignal,
    ): Promise<{ total: number; count: number; results: ListedInstall[] }> {
      const conditions = await searched(caller, accountId, filters, gone);
      return database.snapshot(async (reader) => {
        const scope = await scopeOf(reader, caller, accountId);
        const isDescending = sort.startsWith('-');
        const order = LIST_SORTS.find((one) => one === sort.replace(/^-/, '')) ?? 'name';
        const [total, { count, rows }] = await Promise.all([
          countInstalls(reader, scope, {}),
          pageOfListed(reader, scope, conditions, { sort: order, isDescending, limit, offset }),
        ]);
        const ids = rows.map(({ id }) => id);
        const [reasons, matches] = await Promise.all([
          ids.length === 0 ? new Map<string, Attention>() : reasonsIn(reader, scope, ids),
          ids.length === 0 || conditions.texts.length === 0
            ? []
            : installsByDomain(reader, conditions.texts, ids),
        ]);
        const byDomain = new Map(matches.map(({ install_id, name }) => [install_id, name]));
        return {
          total,
          count,
          results: rows.map((row) => {
            const primary_domain = row.primary_domain ?? defaultDomain(row.name, siteDomain);
            const isShown = conditions.texts.some((text) =>
              [row.name, primary_domain].some((name) => name.includes(text)),
            );
            return {
              ...row,
              tags: tagsIn(row.tags),
              primary_domain,
              matched_domain: isShown ? null : (byDomain.get(row.id) ?? null),
              plugin_updates: row.plugin_updates ?? 0,
              theme_updates: row.theme_updates ?? 0,
              reasons: reasons.get(row.id)?.reasons ?? [],
            };
          }),
        };
      });
    },

    /** One page of an account's sites whose name, or that of an install or domain, contains `search`. Throws NotFound, RateLimited. */
    async listSites(
      caller: Caller,
      accountId: string,
      { search = '', tags }: Pick<ListFilters, 'search' | 'tags'>,
      { sort, limit, offset }: ListRequest,
      gone: AbortSignal,
    ) {
      const text = search.trim().toLowerCase();
      const conditions = conditionsOf(text === '' ? {} : { search });
      const found = await foundSites(caller, accountId, text, { ...conditions, tags }, gone);
      return database.snapshot(async (reader) => {
        const scope = await scopeOf(reader, caller, accountId);
        return listSites(
          reader,
          scope,
          { text, tags, conditions, found },
          {
            sort: SITE_SORTS.find((one) => one === sort.replace(/^-/, '')) ?? 'name',
            isDescending: sort.startsWith('-'),
            limit,
            offset,
          },
        );
      });
    },

    /** All installs of an account that match, for a selection; with `ids`, those among them. Throws NotFound, RateLimited. */
    async selectInstalls(
      caller: Caller,
      accountId: string,
      filters: ListFilters,
      ids: readonly string[] | undefined,
      gone: AbortSignal,
    ): Promise<SelectedInstall[]> {
      // Some installs are found by their ids.
      const conditions =
        ids === undefined ? await searched(caller, accountId, filters, gone) : conditionsOf(filters);
      return database.snapshot(async (reader) => {
        const scope = await scopeOf(reader, caller, accountId);
        const count = ids === undefined ? await countListed(reader, scope, conditions) : null;
        const listing = { scope, conditions, limit: MOST_SELECTED, count };
        const rows = await matchingInstalls(reader, listing, ids);
        return rows.map((row) => ({ ...row, tags: tagsIn(row.tags) }));
      });
    },

    /** One page of the installs that need attention, with the number of all; with `installId`, that one alone. Throws NotFound. */
    async attention(
      caller: Caller,
      accountId: string,
      { installId, limit, offset }: { installId?: string | undefined; limit: number; offset: number },
    ): Promise<{ count: number; results: Attention[] }> {
      return database.snapshot(async (reader) => {
        const scope = await scopeOf(reader, caller, accountId);
        const conditions = { ids: installId === undefined ? undefined : [installId], soon: soon() };
        const [count, ids] = await Promise.all([
          countInNeed(reader, scope, conditions),
          limit === 0 ? [] : installsInNeed(reader, scope, { ...conditions, limit, offset }),
        ]);
        const found = ids.length === 0 ? undefined : await reasonsIn(reader, scope, ids);
        return { count, results: ids.flatMap((id) => found?.get(id) ?? []) };
      });
    },

    /** The first steps that were taken in an account. Throws NotFound, Forbidden for users who cannot take them. */
    async onboarding(caller: Caller, accountId: string): Promise<Onboarding> {
      return database.snapshot(async (reader) => {
        const member = await findMembership(reader, caller, accountId);
        authorize('site.change', 'account.read', member && { ...member, own: true });
        return { ...(await stepsTaken(reader, accountId)), daily_backups: dailyBackups };
      });
    },
  };
}

/** The forms in which a name may contain a text: as written, and in ASCII. */
function textsOf(text: string): string[] {
  const written = text.trim().toLowerCase();
  if (written === '') return [];
  const ascii = domainToASCII(written);
  return ascii === '' || ascii === written ? [written] : [written, ascii];
}

/** The most important reason about a domain: without reaching this host, its name gets no certificate either. */
function reasonOf(domain: DoubtfulDomain): Reason {
  const about = { domain: domain.name, reason: domain.ssl_reason, retry_operation_id: null };
  if (domain.reached === false) return { kind: 'domain_not_reached', ...about, at: lastSeen(domain) };
  if (domain.without_certificate) return { kind: 'certificate_missing', ...about, at: null };
  return { kind: 'certificate_ends', ...about, at: domain.not_after };
}

/** A check by the platform leaves the report as it is if nothing changed. */
function lastSeen({ checked_at, looked_at }: DoubtfulDomain): string | null {
  return (
    [checked_at, looked_at]
      .filter((at) => at !== null)
      .sort()
      .at(-1) ?? null
  );
}

function quotaSentence({
  limited,
  used,
  allowed,
}: Pick<InstallQuotaRow, 'limited' | 'used' | 'allowed'>): string {
  const percent = Math.floor((used * 100) / allowed);
  return limited === 'disk'
    ? `The files use ${percent} % of the limit of ${allowed / GB} GB.`
    : `The website has ${percent} % of the limit of ${new Intl.NumberFormat('en').format(allowed)} files and folders.`;
}
