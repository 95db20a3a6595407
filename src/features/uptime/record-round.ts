import type { Queries } from '../../database/database.ts';
import { MINUTE_MS } from '../../lib/durations.ts';
import type { Randomness } from '../../lib/ids.ts';
import type { Fault } from './judgement.ts';
import {
  beginSpans,
  confirmIncident,
  dropSuspicions,
  endIncidents,
  extendSpans,
  type OpenIncident,
  openIncidents,
  presentSpans,
  suspectIncident,
} from './store.ts';
import { unwatchedWithIncident } from './watched-store.ts';

/** A host that does not answer for this long is down for its visitors, and does not just restart. */
export const HOST_PATIENCE_MS = 5 * MINUTE_MS;

/** The result of one check. */
export interface Observation {
  install_id: string;
  /** Null: the website works. */
  fault: Fault | null;
  /** Newest errors of PHP, if the check was the second that failed. */
  php_error: string | null;
}

export interface Round {
  observations: readonly Observation[];
  /** When the checks began. */
  at: Date;
  /** Checks that are further apart say nothing about the time between them. */
  gapMs: number;
}

/** The effect of a failed check on an incident that has not ended. */
export type Consequence = 'suspect' | 'wait' | 'confirm' | 'continue';

/** Two failures in a row are an incident; a silent host is one after minutes. */
export function consequenceOf(
  { cause }: Pick<Fault, 'cause'>,
  open: Pick<OpenIncident, 'cause' | 'started_at' | 'confirmed_at'> | undefined,
  { at, gapMs }: Pick<Round, 'at' | 'gapMs'>,
): Consequence {
  if (open === undefined) return 'suspect';
  if (open.confirmed_at !== null) return 'continue';
  // The host has just restarted, and the PHP of its websites may start after its web server.
  if (open.cause === 'host' && cause !== 'host') return 'suspect';
  const failingMs = at.getTime() - Date.parse(open.started_at);
  const patienceMs = cause === 'host' ? HOST_PATIENCE_MS : 0;
  // There was no check in between, so the failures are not in a row.
  if (failingMs > patienceMs + gapMs) return 'suspect';
  return failingMs < patienceMs ? 'wait' : 'confirm';
}

/** Stores the results of a round. Call it in the transaction that ends the round. */
export async function recordRound(
  queries: Queries,
  { observations, at, gapMs }: Round,
  random: Pick<Randomness, 'uuid'>,
): Promise<void> {
  const now = at.toISOString();
  const since = new Date(at.getTime() - gapMs).toISOString();
  const open = await openIncidents(queries);
  const spans = await presentSpans(queries, since);
  const extended: string[] = [];
  const begun: Parameters<typeof beginSpans>[1][number][] = [];
  const recovered: string[] = [];
  const dropped: string[] = [];

  const observed = (install_id: string, is_up: boolean) => {
    if (spans.get(install_id) === is_up) extended.push(install_id);
    else begun.push({ install_id, first_at: now, last_at: now, is_up });
  };

  for (const { install_id, fault, php_error } of observations) {
    const incident = open.get(install_id);
    if (fault === null) {
      if (incident !== undefined) (incident.confirmed_at === null ? dropped : recovered).push(incident.id);
      observed(install_id, true);
      continue;
    }
    switch (consequenceOf(fault, incident, { at, gapMs })) {
      case 'suspect':
        if (incident !== undefined) await dropSuspicions(queries, [incident.id]);
        await suspectIncident(queries, { id: random.uuid(), install_id, ...fault, started_at: now });
        break;
      case 'confirm':
        if (incident === undefined) break;
        await confirmIncident(queries, incident.id, { ...fault, php_error, confirmed_at: now });
        begun.push({ install_id, first_at: incident.started_at, last_at: now, is_up: false });
        break;
      case 'continue':
        observed(install_id, false);
        break;
      case 'wait':
        break;
    }
  }
  await dropSuspicions(queries, dropped);
  await endIncidents(queries, recovered, now, 'recovered');
  await endUnwatched(queries, open, now);
  await extendSpans(queries, extended, { since, now });
  await beginSpans(queries, begun);
}

/** Nothing is known about websites that are not asked any more. */
async function endUnwatched(
  queries: Queries,
  open: ReadonlyMap<string, OpenIncident>,
  now: string,
): Promise<void> {
  if (open.size === 0) return;
  await endAll(
    queries,
    (await unwatchedWithIncident(queries)).flatMap((id) => open.get(id) ?? []),
    now,
  );
}

/** Ends all incidents, because the watch is switched off. */
export async function endWatch(queries: Queries, at: Date): Promise<void> {
  await endAll(queries, [...(await openIncidents(queries)).values()], at.toISOString());
}

async function endAll(queries: Queries, incidents: readonly OpenIncident[], now: string): Promise<void> {
  const of = (isConfirmed: boolean) =>
    incidents.filter(({ confirmed_at }) => (confirmed_at !== null) === isConfirmed).map(({ id }) => id);
  await dropSuspicions(queries, of(false));
  await endIncidents(queries, of(true), now, 'unwatched');
}
