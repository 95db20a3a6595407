import { Value } from 'typebox/value';
import type { Caller } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize, reachOf } from '../../../access/permissions.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { CSV_HEADER, csvLine } from './csv.ts';
import { type ActivityView, detailsSchema, type PersonInActivity } from './schema.ts';
import {
  type ActivityFilter,
  type ActivityScope,
  activityBefore,
  findAccountName,
  pageOfActivity,
  peopleInActivity,
} from './store.ts';

/** Rows read at a time during an export. */
const BATCH = 500;

export interface ActivityService {
  /** Entries of an account that match the filter, latest first; for partial users only their own, for credentials limited to installs only of those. Throws NotFound. */
  list(
    caller: Caller,
    accountId: string,
    filter: ActivityFilter,
    page: PageRequest,
  ): Promise<PageOf<ActivityView>>;
  /** Streams the same entries as CSV (RFC 4180). Throws NotFound before the first part. */
  exportCsv(
    caller: Caller,
    accountId: string,
    filter: ActivityFilter,
  ): Promise<{ fileName: string; parts: AsyncIterable<string> }>;
  /** The users named in the entries that the caller may see, former users included. Throws NotFound. */
  people(caller: Caller, accountId: string): Promise<PersonInActivity[]>;
}

export function createActivityService({
  database,
  clock,
}: Pick<Platform, 'database' | 'clock'>): ActivityService {
  const { reader } = database;

  async function scopeOf(
    caller: Caller,
    accountId: string,
    filter: ActivityFilter = {},
  ): Promise<ActivityScope> {
    const member = await findMembership(reader, caller, accountId);
    const access = member && { ...member, own: true };
    authorize('activity.read', 'account.read', access);
    const all = reachOf(access.role)['activity.read'] === 'all';
    const installIds = caller.limits?.installIds ?? null;
    return { accountId, userId: all ? null : caller.userId, installIds, filter };
  }

  async function* csvLines(scope: ActivityScope): AsyncIterable<string> {
    yield CSV_HEADER;
    let before: { at: string; seq: number } | null = null;
    for (;;) {
      const rows: Awaited<ReturnType<typeof activityBefore>> = await activityBefore(
        reader,
        scope,
        before,
        BATCH,
      );
      yield rows.map((row) => csvLine(view(row))).join('');
      before = rows.at(-1) ?? null;
      if (rows.length < BATCH) return;
    }
  }

  return {
    async list(caller, accountId, filter, page) {
      const scope = await scopeOf(caller, accountId, filter);
      const found = await pageOfActivity(reader, scope, page);
      return { ...found, results: found.results.map(view) };
    },
    async exportCsv(caller, accountId, filter) {
      const scope = await scopeOf(caller, accountId, filter);
      const name = await findAccountName(reader, accountId);
      const day = timestamp(clock).slice(0, 'yyyy-mm-dd'.length);
      return { fileName: `activity-${slug(name ?? '')}-${day}.csv`, parts: csvLines(scope) };
    },
    async people(caller, accountId) {
      const people = await peopleInActivity(reader, await scopeOf(caller, accountId));
      return people.flatMap(({ user_id, user_name }) => (user_id === null ? [] : [{ user_id, user_name }]));
    },
  };
}

type ActivityRow = Awaited<ReturnType<typeof activityBefore>>[number];

function view({ seq: _, action, details, ...row }: ActivityRow): ActivityView {
  return { ...row, action, details: Value.Check(detailsSchema, details) ? details : null };
}

/** An account name as a part of a file name. */
function slug(name: string): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return letters.slice(0, 40) || 'account';
}
