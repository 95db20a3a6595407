import { type Route, route } from '../../../api/route.ts';
import type { AccountUserService } from './service.ts';

export function accountUserPortalRoutes(users: AccountUserService): Route[] {
  return [
    route({
      method: 'DELETE',
      path: '/accounts/:account_id/membership',
      summary: 'Leave an account',
      tag: 'Account users',
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => users.leave(caller, id('account_id')),
    }),
  ];
}
