import { displayName, displayNameTexts } from '../../../api/display-name.ts';
import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { bodyRoute, pagedRoute, type Route, route } from '../../../api/route.ts';
import { component, nullableString, Type, uuid } from '../../../api/schema.ts';
import { LONGEST_NAME, ONE_LINE } from '../../../lib/one-line.ts';
import type { AccountService } from './service.ts';

const accountSchema = component(
  'Account',
  Type.Object(
    {
      id: uuid(),
      name: Type.String(),
      nickname: Type.String({ description: 'a short name that owners choose; the name without one' }),
    },
    { description: 'An account, which owns sites, installs and users' },
  ),
  { id: EXAMPLE_ID.account, name: 'Example', nickname: 'Example' },
);

export function accountRoutes(accounts: AccountService): Route[] {
  const tag = 'Accounts';
  return [
    pagedRoute({
      path: '/accounts',
      operationId: 'listAccounts',
      summary: 'List your accounts',
      description: 'Lists the accounts that the user of the credential belongs to, oldest first.',
      tag,
      errors: [400, 401, 429, 503],
      item: accountSchema,
      handle: ({ caller, page }) => accounts.list(caller, page),
    }),
    route({
      method: 'GET',
      path: '/accounts/:account_id',
      operationId: 'getAccount',
      summary: 'Get an account',
      description: 'Returns one account. Accounts that the user does not belong to answer 404.',
      tag,
      errors: [401, 404, 429, 503],
      success: 200,
      response: accountSchema,
      handle: ({ caller, id }) => accounts.get(caller, id('account_id')),
    }),
  ];
}

/** Null or an empty text removes it. */
const nickname = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  pattern: `${ONE_LINE}|^$`,
  maxLength: LONGEST_NAME,
  description: 'null or an empty text: none',
});

const accountSettingsSchema = Type.Object({
  id: uuid(),
  name: Type.String(),
  nickname: nullableString('null: none'),
  requires_second_factor: Type.Boolean(),
});

/** Routes that only the portal has. */
export function accountPortalRoutes(accounts: AccountService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/accounts/:account_id',
      operationId: 'getAccountSettings',
      summary: 'The settings of an account',
      tag: 'Accounts',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: accountSettingsSchema,
      handle: ({ caller, id }) => accounts.settings(caller, id('account_id')),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/accounts/:account_id',
      operationId: 'updateAccount',
      summary: 'Rename an account, set its nickname, or require a second factor of its users',
      tag: 'Accounts',
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      response: accountSettingsSchema,
      body: {
        resource: 'Account',
        schema: Type.Object({
          name: Type.Optional(displayName()),
          nickname: Type.Optional(nickname),
          requires_second_factor: Type.Optional(Type.Boolean()),
        }),
        texts: { name: displayNameTexts('The name'), nickname: displayNameTexts('The nickname') },
      },
      handle: ({ caller, id }, body) => accounts.update(caller, id('account_id'), body),
    }),
  ];
}
