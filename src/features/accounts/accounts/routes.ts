import { pagedRoute, type Route, route } from '../../../api/route.ts';
import { Type, uuid } from '../../../api/schema.ts';
import type { AccountService } from './service.ts';

const accountSchema = Type.Object(
  { id: uuid(), name: Type.String() },
  { description: 'What installs, sites and users belong to' },
);

export function accountRoutes(accounts: AccountService): Route[] {
  const tag = 'Accounts';
  return [
    pagedRoute({
      path: '/accounts',
      summary: 'The accounts that you are a user of',
      tag,
      errors: [400, 401, 429, 503],
      item: accountSchema,
      handle: ({ caller, page }) => accounts.list(caller, page),
    }),
    route({
      method: 'GET',
      path: '/accounts/:account_id',
      summary: 'One account',
      tag,
      errors: [401, 404, 429, 503],
      success: 200,
      response: accountSchema,
      handle: ({ caller, id }) => accounts.get(caller, id('account_id')),
    }),
  ];
}
