import { displayName, displayNameTexts } from '../../../api/display-name.ts';
import { emailAddress, nullableString, stringEnum, Type, uuid } from '../../../api/schema.ts';
import type { BodyDefinition } from '../../../api/validation.ts';
import { ROLE_INPUTS } from '../../../lib/roles.ts';

export const accountUserSchema = Type.Object(
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
      Type.Array(Type.Object({ id: uuid(), name: Type.String() }), {
        description: 'partial users only: the installs granted to them',
      }),
    ),
  },
  { description: 'A user of an account' },
);

export const accountUserChangeSchema = Type.Object({
  message: Type.String(),
  account_user: accountUserSchema,
});

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

const createSchema = Type.Object({
  user: Type.Object({
    account_id: uuid(),
    first_name: displayName(),
    last_name: displayName(),
    email: emailAddress(),
    roles,
    install_ids: installIds,
  }),
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

const updateSchema = Type.Object({ roles, install_ids: installIds });

export const updateAccountUserBody: BodyDefinition<typeof updateSchema> = {
  resource: 'AccountUser',
  schema: updateSchema,
  texts: { roles: roleTexts },
};
