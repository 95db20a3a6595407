import type { Caller } from '../../access/caller.ts';
import { findMembership, loadScope } from '../../access/memberships.ts';
import { authorize } from '../../access/permissions.ts';
import type { Config } from '../../config/config.ts';
import type { Queries } from '../../database/database.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';
import type { Platform } from '../../platform/platform.ts';
import { findInstallAccess } from '../websites/installs/store.ts';
import {
  type HistoryDay,
  historyDays,
  intervalsOf,
  KEEP_HISTORY_MS,
  observedIn,
  PERIODS,
  type Period,
  percentageOf,
  presentState,
  type UptimeState,
} from './history.ts';
import { gapMsOf, turnsOf } from './jobs.ts';
import { type Incident, pageOfIncidents, spansOf } from './read-store.ts';
import { countWatched, isWatched } from './watched-store.ts';

export type { Incident };

/** Whether a website answers, and how often it did. */
export interface Uptime {
  /** Null: it is watched. */
  unwatched_reason: string | null;
  state: UptimeState;
  since: string | null;
  checked_at: string | null;
  percentages: Record<Period, number | null>;
  days: HistoryDay[];
  incident: Incident | null;
}

/** The state of the wanted incidents; undefined: all. */
export type IncidentState = 'open' | 'ended' | undefined;

export type UptimeService = ReturnType<typeof createUptimeService>;

/** Reads what the watch has stored. */
export function createUptimeService({
  config,
  database,
  clock,
}: Pick<Platform, 'database' | 'clock'> & { config: Pick<Config, 'watchWebsites'> }) {
  const { reader } = database;

  async function unwatchedReason(reader: Queries, installId: string): Promise<string | null> {
    if (!config.watchWebsites) return 'The operator of this platform has switched the checks off.';
    if (await isWatched(reader, installId)) return null;
    return 'Homeport checks active installs of the environment production.';
  }

  return {
    /** Throws NotFound. */
    async ofInstall(caller: Caller, installId: string): Promise<Uptime> {
      return database.snapshot(async (reader) => {
        authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
        const now = clock.now();
        const since = new Date(now.getTime() - KEEP_HISTORY_MS).toISOString();
        const [spans, open, unwatched_reason, websites] = await Promise.all([
          spansOf(reader, installId, since),
          pageOfIncidents(reader, { installId, isOpen: true }, { limit: 1, offset: 0 }),
          unwatchedReason(reader, installId),
          countWatched(reader),
        ]);
        const [incident = null] = open.results;
        const intervals = intervalsOf(spans, now);
        const percentage = (period: Period) =>
          percentageOf(observedIn(intervals, now.getTime() - PERIODS[period], now.getTime()));
        return {
          unwatched_reason,
          ...presentState(spans, incident?.started_at ?? null, now, gapMsOf(turnsOf(websites))),
          percentages: {
            last_24_hours: percentage('last_24_hours'),
            last_7_days: percentage('last_7_days'),
            last_30_days: percentage('last_30_days'),
            last_90_days: percentage('last_90_days'),
          },
          days: historyDays(intervals, now),
          incident,
        };
      });
    },

    /** The incidents of an install, latest first. Throws NotFound. */
    async incidentsOfInstall(
      caller: Caller,
      installId: string,
      state: IncidentState,
      page: PageRequest,
    ): Promise<PageOf<Incident>> {
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
      return pageOfIncidents(reader, { installId, ...openness(state) }, page);
    },

    /** The incidents of the installs of an account that the caller sees, latest first. Throws NotFound. */
    async incidentsOfAccount(
      caller: Caller,
      accountId: string,
      state: IncidentState,
      page: PageRequest,
    ): Promise<PageOf<Incident>> {
      const member = await findMembership(reader, caller, accountId);
      authorize('account.read', 'account.read', { role: member?.role ?? null, own: false });
      const scope = await loadScope(reader, caller, accountId);
      return pageOfIncidents(reader, { accountId, scope, ...openness(state) }, page);
    },
  };
}

function openness(state: IncidentState): { isOpen?: boolean } {
  return state === undefined ? {} : { isOpen: state === 'open' };
}
