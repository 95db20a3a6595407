import { wordParameter } from '../../api/query.ts';
import { pagedRoute, type Route, route } from '../../api/route.ts';
import type { Clock } from '../../lib/clock.ts';
import { COUNTED_BOUNDEDLY } from '../../lib/page.ts';
import { INCIDENT_CAUSES, type IncidentCause } from './judgement.ts';
import { incidentSchema, uptimeSchema } from './schema.ts';
import type { Incident, IncidentState, Uptime, UptimeService } from './service.ts';

const STATE = wordParameter(
  'state',
  ['open', 'ended'],
  'only incidents that have not ended, or only those that have',
);
const ERRORS = [400, 401, 403, 404, 429, 503] as const;

export function uptimeRoutes(uptime: UptimeService, clock: Clock): Route[] {
  const tag = 'Uptime';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/uptime',
      operationId: 'getUptime',
      summary: 'Get the uptime of an install',
      description:
        'Homeport asks the home page of each production website every minute, at its own host. Two failures in a row begin an incident. Protected websites (401, 403) and maintenance (503 with `Retry-After`) are up. Whether domains lead here is the question of status reports.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: uptimeSchema,
      handle: async ({ caller, id }) =>
        presentUptime(await uptime.ofInstall(caller, id('install_id')), clock.now()),
    }),
    pagedRoute({
      path: '/installs/:install_id/incidents',
      operationId: 'listIncidents',
      summary: 'List the incidents of an install',
      description:
        'Lists the times in which the website did not answer as it should, latest first, for 90 days. ' +
        COUNTED_BOUNDEDLY,
      tag,
      errors: ERRORS,
      item: incidentSchema,
      filters: [STATE],
      async handle({ caller, id, page, filters }) {
        const found = await uptime.incidentsOfInstall(caller, id('install_id'), stateIn(filters.state), page);
        return { ...found, results: found.results.map((one) => presentIncident(one, clock.now())) };
      },
    }),
    pagedRoute({
      path: '/accounts/:account_id/incidents',
      operationId: 'listAccountIncidents',
      summary: 'List the incidents of an account',
      description:
        'Lists the incidents of the installs that you may see, latest first, for 90 days. ' +
        COUNTED_BOUNDEDLY,
      tag,
      errors: ERRORS,
      item: incidentSchema,
      filters: [STATE],
      async handle({ caller, id, page, filters }) {
        const found = await uptime.incidentsOfAccount(caller, id('account_id'), stateIn(filters.state), page);
        return { ...found, results: found.results.map((one) => presentIncident(one, clock.now())) };
      },
    }),
  ];
}

const stateIn = (text: string | undefined): IncidentState =>
  text === 'open' || text === 'ended' ? text : undefined;

function presentUptime({ unwatched_reason, incident, ...uptime }: Uptime, now: Date) {
  return {
    monitored: unwatched_reason === null,
    reason: unwatched_reason,
    ...uptime,
    incident: incident && presentIncident(incident, now),
  };
}

function presentIncident({ install_id, install_name, cause, ...incident }: Incident, now: Date) {
  const until = incident.ended_at === null ? now.getTime() : Date.parse(incident.ended_at);
  return {
    ...incident,
    install: { id: install_id, name: install_name },
    cause: causeOf(cause),
    duration_seconds: Math.max(0, Math.round((until - Date.parse(incident.started_at)) / 1_000)),
  };
}

/** Another version of Homeport may have stored other words. */
const causeOf = (stored: string): IncidentCause =>
  INCIDENT_CAUSES.find((cause) => cause === stored) ?? 'status';
