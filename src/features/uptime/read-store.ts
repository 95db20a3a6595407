import type { Scope } from '../../access/memberships.ts';
import { inScope } from '../../access/memberships.ts';
import { boundedPage, countBounded } from '../../database/bounded-page.ts';
import type { Queries } from '../../database/database.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';
import { hasStoredCounts } from '../websites/installs/counts-store.ts';

/** A span of the history of a website. */
export interface Span {
  first_at: string;
  last_at: string;
  is_up: boolean;
}

/** The spans of an install that end at `since` or later, oldest first. */
export function spansOf(queries: Queries, installId: string, since: string): Promise<Span[]> {
  return queries
    .selectFrom('uptime_spans')
    .select(['first_at', 'last_at', 'is_up'])
    .where('install_id', '=', installId)
    .where('last_at', '>=', since)
    .orderBy('first_at')
    .execute();
}

/** An incident with its install. */
export interface Incident {
  id: string;
  install_id: string;
  install_name: string;
  cause: string;
  message: string;
  php_error: string | null;
  started_at: string;
  ended_at: string | null;
}

/** The incidents to list. */
export type IncidentFilter =
  | { installId: string; isOpen?: boolean }
  | { accountId: string; scope: Scope; isOpen?: boolean };

const confirmed = (queries: Queries, filter: IncidentFilter) =>
  queries
    .selectFrom('uptime_incidents as incident')
    .where('incident.confirmed_at', 'is not', null)
    .where((eb) => {
      if ('installId' in filter) return eb('incident.install_id', '=', filter.installId);
      const { accountId, scope } = filter;
      const ofAccount = eb('incident.account_id', '=', accountId);
      if (hasStoredCounts(scope) && scope.whole.length > 0) return ofAccount;
      const shown = queries.selectFrom('installs as install').select('install.id');
      return eb.and([
        ofAccount,
        eb(
          'incident.install_id',
          'in',
          shown.where((of) => inScope(of, scope)),
        ),
      ]);
    })
    .$if(filter.isOpen === true, (query) => query.where('incident.ended_at', 'is', null))
    .$if(filter.isOpen === false, (query) => query.where('incident.ended_at', 'is not', null));

/** A page of incidents, latest first. */
export async function pageOfIncidents(
  queries: Queries,
  filter: IncidentFilter,
  page: PageRequest,
): Promise<PageOf<Incident>> {
  const all = confirmed(queries, filter);
  const [count, rows] = await Promise.all([
    countBounded(queries, all),
    all
      .innerJoin('installs as install', 'install.id', 'incident.install_id')
      .select(['incident.id', 'incident.install_id', 'install.name as install_name', 'incident.cause'])
      .select(['incident.message', 'incident.php_error', 'incident.started_at', 'incident.ended_at'])
      .orderBy('incident.seq', 'desc')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ]);
  return boundedPage(count, rows, page);
}
