import { bodyRoute, type Route, route } from '../../../api/route.ts';
import type { Static } from '../../../api/schema.ts';
import { formatRoles } from '../../../lib/roles.ts';
import {
  accountUserChangeSchema,
  accountUserListSchema,
  accountUserSchema,
  createAccountUserBody,
  updateAccountUserBody,
} from './schema.ts';
import type { AccountUserService } from './service.ts';
import type { MemberView } from './view.ts';

function presentMember(member: MemberView): Static<typeof accountUserSchema> {
  return {
    user_id: member.user_id,
    account_id: member.account_id,
    first_name: member.first_name,
    last_name: member.last_name,
    email: member.email,
    phone: member.phone,
    invite_accepted: member.invite_accepted,
    mfa_enabled: member.mfa_enabled,
    roles: formatRoles(member),
    ...(member.role === 'owner' ? { last_owner: member.last_owner } : {}),
    ...(member.role === 'partial' ? { installs: member.installs } : {}),
  };
}

const changed = (member: MemberView) => ({
  message: 'Your change was successful.',
  account_user: presentMember(member),
});

export function accountUserRoutes(users: AccountUserService): Route[] {
  const tag = 'Account users';
  return [
    route({
      method: 'GET',
      path: '/accounts/:account_id/account_users',
      operationId: 'listAccountUsers',
      summary: 'List the users of an account',
      description:
        'Lists all users of an account on one page. Partial users see only themselves. An account that you cannot see gives an empty list.',
      tag,
      errors: [400, 401, 429, 503],
      success: 200,
      response: accountUserListSchema,
      handle: async ({ caller, id }) => ({
        results: (await users.list(caller, id('account_id'))).map(presentMember),
      }),
    }),
    bodyRoute({
      method: 'POST',
      path: '/accounts/:account_id/account_users',
      operationId: 'createAccountUser',
      summary: 'Invite a user to an account by email',
      description:
        'Adds a user and emails an invitation. A user with this email address joins the account, and their name stays as it is. Requires the role owner or full.',
      link: { operationId: 'getAccountUser', ids: { user_id: '/account_user/user_id' } },
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      response: accountUserChangeSchema,
      body: createAccountUserBody,
      handle: async ({ caller, id }, { user }) => changed(await users.invite(caller, id('account_id'), user)),
    }),
    route({
      method: 'GET',
      path: '/accounts/:account_id/account_users/:user_id',
      operationId: 'getAccountUser',
      summary: 'Get a user of an account',
      description: 'Returns one user of an account. Partial users see only themselves.',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: accountUserSchema,
      handle: async ({ caller, id }) =>
        presentMember(await users.get(caller, id('account_id'), id('user_id'))),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/accounts/:account_id/account_users/:user_id',
      operationId: 'updateAccountUser',
      summary: "Change a user's roles or granted installs",
      description:
        'Replaces the roles of a user and, for partial users, the installs that they may use. You cannot grant a role above your own or change the last owner.',
      tag,
      errors: [400, 401, 403, 404, 429, 500, 503],
      success: 200,
      response: accountUserChangeSchema,
      body: updateAccountUserBody,
      handle: async ({ caller, id }, body) =>
        changed(await users.update(caller, id('account_id'), id('user_id'), body)),
    }),
    route({
      method: 'DELETE',
      path: '/accounts/:account_id/account_users/:user_id',
      operationId: 'deleteAccountUser',
      summary: 'Remove a user from an account',
      description: 'Ends the membership of a user in the account. The last owner cannot be removed.',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => users.remove(caller, id('account_id'), id('user_id')),
    }),
  ];
}

/** Routes that only the portal has. */
export function accountUserPortalRoutes(users: AccountUserService): Route[] {
  return [
    route({
      method: 'DELETE',
      path: '/accounts/:account_id/membership',
      operationId: 'leaveAccount',
      summary: 'Leave an account',
      tag: 'Account users',
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => users.leave(caller, id('account_id')),
    }),
  ];
}
