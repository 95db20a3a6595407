import { Readable } from 'node:stream';
import { idParameter, timeParameter, wordParameter } from '../../../api/query.ts';
import { pagedRoute, type Route, route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { StreamedAnswer, streamRoute } from '../../../api/stream-route.ts';
import { COUNTED_BOUNDEDLY } from '../../../lib/page.ts';
import { ACTION_KINDS } from '../../../platform/activity-log.ts';
import { activitySchema, personInActivitySchema } from './schema.ts';
import type { ActivityService } from './service.ts';

const FILTERS = [
  idParameter('user_id'),
  idParameter('install_id'),
  wordParameter('kind', ACTION_KINDS, 'only actions that begin with this word'),
  timeParameter('since', 'at or after this time'),
  timeParameter('until', 'before this time'),
];

export function activityRoutes(activity: ActivityService): Route[] {
  return [
    pagedRoute({
      path: '/accounts/:account_id/activity',
      operationId: 'listActivity',
      summary: 'Activity of an account, latest first; entries are kept for a year',
      description:
        'The audit log: who changed what, when and from where. Partial users get the entries of their own changes only; credentials limited to installs, those of their user on these installs. ' +
        COUNTED_BOUNDEDLY,
      tag: 'Activity',
      errors: [400, 401, 403, 404, 429, 503],
      item: activitySchema,
      filters: FILTERS,
      handle: ({ caller, id, filters, page }) => activity.list(caller, id('account_id'), filters, page),
    }),
  ];
}

/** Routes that only the portal has. */
export function activityPortalRoutes(activity: ActivityService): Route[] {
  return [
    streamRoute({
      path: '/accounts/:account_id/activity.csv',
      operationId: 'exportActivity',
      summary: 'Activity of an account as CSV, without paging',
      tag: 'Activity',
      errors: [400, 401, 403, 404, 429, 503],
      contentType: 'text/csv; charset=utf-8',
      content: 'RFC 4180, with a header line',
      parameters: FILTERS,
      async handle({ caller, id, query }) {
        const { fileName, parts } = await activity.exportCsv(caller, id('account_id'), query);
        return new StreamedAnswer(Readable.from(parts), {
          'content-disposition': `attachment; filename="${fileName}"`,
        });
      },
    }),
    route({
      method: 'GET',
      path: '/accounts/:account_id/activity/people',
      operationId: 'listPeopleInActivity',
      summary: 'Users named in the activity of an account, former users included',
      tag: 'Activity',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({ results: Type.Array(personInActivitySchema) }),
      handle: async ({ caller, id }) => ({ results: await activity.people(caller, id('account_id')) }),
    }),
  ];
}
