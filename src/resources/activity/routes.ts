import { pagedRoute, type Route } from '../../api/route.ts';
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
  ];
}
