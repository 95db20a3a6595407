import { displayName, displayNameTexts } from '../../../api/display-name.ts';
import { bodyRoute, type Route } from '../../../api/route.ts';
import { Type, uuid } from '../../../api/schema.ts';
import type { AccountService } from './service.ts';

export function accountPortalRoutes(accounts: AccountService): Route[] {
  return [
    bodyRoute({
      method: 'PATCH',
      path: '/accounts/:account_id',
      summary: 'Rename an account, or demand a second factor of its users',
      tag: 'Accounts',
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({ id: uuid(), name: Type.String(), requires_second_factor: Type.Boolean() }),
      body: {
        resource: 'Account',
        schema: Type.Object({
          name: Type.Optional(displayName()),
          requires_second_factor: Type.Optional(Type.Boolean()),
        }),
        texts: { name: displayNameTexts('The name') },
      },
      handle: ({ caller, id }, body) => accounts.update(caller, id('account_id'), body),
    }),
  ];
}
