import { Readable } from 'node:stream';
import { pagedRoute, type Route } from '../../api/route.ts';
import { StreamedAnswer, streamRoute } from '../../api/stream-route.ts';
import { activitySchema } from './schema.ts';
import type { ActivityService } from './service.ts';

export function activityRoutes(activity: ActivityService): Route[] {
  return [
    pagedRoute({
      path: '/accounts/:account_id/activity',
      summary: 'Who changed what in an account, the latest first; a year of it',
      tag: 'Activity',
      errors: [400, 401, 403, 404, 429, 503],
      item: activitySchema,
      handle: ({ caller, id, page }) => activity.list(caller, id('account_id'), page),
    }),
    streamRoute({
      path: '/accounts/:account_id/activity.csv',
      summary: 'The same for a spreadsheet, all of it',
      tag: 'Activity',
      errors: [400, 401, 403, 404, 429, 503],
      contentType: 'text/csv; charset=utf-8',
      content: 'RFC 4180, the first line names the columns',
      async handle({ caller, id }) {
        const { fileName, parts } = await activity.exportCsv(caller, id('account_id'));
        return new StreamedAnswer(Readable.from(parts), {
          'content-disposition': `attachment; filename="${fileName}"`,
        });
      },
    }),
  ];
}
