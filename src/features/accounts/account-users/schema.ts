import { displayName, displayNameTexts } from '../../../api/display-name.ts';
import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, emailAddress, nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';
import type { BodyDefinition } from '../../../api/validation.ts';
import { ROLE_INPUTS } from '../../../lib/roles.ts';

export const grantedInstall = component(
  'InstallReference',
  Type.Object({ id: uuid(), name: Type.String() }),
  {
    id: EXAMPLE_ID.install,
    name: 'shop',
  },
);

const accountUserExample = {
  user_id: EXAMPLE_ID.user,
  account_id: EXAMPLE_ID.account,
  first_name: 'Ada',
  last_name: 'Example',
  email: 'ada@example.com',
  phone: null,
  invite_accepted: false,
  mfa_enabled: false,
  roles: 'partial',
  installs: [{ id: EXAMPLE_ID.install, name: 'shop' }],
};

export const accountUserSchema = component(
  'AccountUser',
  Type.Object(
    {
      user_id: uuid(),
      account_id: uuid(),
      first_name: Type.String(),
      last_name: Type.String(),
      email: Type.String(),
      phone: nullableString(),
      invite_accepted: Type.Boolean(),
      mfa_enabled: Type.Boolean(),
      roles: Type.String({ description: 'comma-separated, alphabetical' }),
      last_owner: Type.Optional(Type.Boolean({ description: 'owners only: no other owner has accepted' })),
      installs: Type.Optional(
        Type.Array(grantedInstall, {
          description: 'partial users only: the installs granted to them',
        }),
      ),
    },
    { description: 'A user of an account' },
  ),
  accountUserExample,
);

export const accountUserListSchema = component(
  'AccountUserList',
  Type.Object({ results: Type.Array(accountUserSchema) }, { description: 'All users of an account' }),
  { results: [accountUserExample] },
);

export const accountUserChangeSchema = component(
  'AccountUserChange',
  Type.Object(
    { message: Type.String(), account_user: accountUserSchema },
    { description: 'A user after a change' },
  ),
  { message: 'Your change was successful.', account_user: accountUserExample },
);

const roles = stringEnum(ROLE_INPUTS);
const installIds = Type.Optional(
  Type.Array(uuid(), { maxItems: 1000, description: 'for partial users: the installs to grant' }),
);

const roleTexts = {
  invalid: {
    summary: 'Invalid role specified',
    code: 'invalid_role',
    message: 'Role must be one of: owner, full, full,billing, partial, partial,billing',
  },
};

const newUser = {
  account_id: EXAMPLE_ID.account,
  first_name: 'Ada',
  last_name: 'Example',
  email: 'ada@example.com',
  roles: 'partial',
  install_ids: [EXAMPLE_ID.install],
} as const;

const newUserSchema = component(
  'InvitedAccountUser',
  Type.Object({
    account_id: uuid(),
    first_name: displayName(),
    last_name: displayName(),
    email: emailAddress(),
    roles,
    install_ids: installIds,
  }),
  { ...newUser, install_ids: [...newUser.install_ids] },
);

const createSchema = component('CreateAccountUser', Type.Object({ user: newUserSchema }), {
  user: { ...newUser, install_ids: [...newUser.install_ids] },
});

export const createAccountUserBody: BodyDefinition<typeof createSchema> = {
  resource: 'AccountUser',
  schema: createSchema,
  wrapper: 'user',
  texts: {
    first_name: displayNameTexts('The first name'),
    last_name: displayNameTexts('The last name'),
    email: {
      required: { summary: 'User email is required', message: 'Email address is required' },
      invalid: { summary: 'Invalid email address', message: 'Email address must be like name@example.com' },
    },
    roles: roleTexts,
  },
};

const updateSchema = component('UpdateAccountUser', Type.Object({ roles, install_ids: installIds }), {
  roles: 'partial',
  install_ids: [EXAMPLE_ID.install],
});

export const updateAccountUserBody: BodyDefinition<typeof updateSchema> = {
  resource: 'AccountUser',
  schema: updateSchema,
  texts: { roles: roleTexts },
};
