import type { Client } from '../../../../test/client.ts';
import { refusal } from '../../../../test/refusal.ts';

export const usersOf = (accountId: string) => `/accounts/${accountId}/account_users`;

/** An unused email address. */
export const newAddress = () => `${crypto.randomUUID()}@people.example`;

/** Invites a user with default fields, which `more` overrides. */
export const inviteTo = (account_id: string, client: Client, more: object = {}) =>
  client.post(usersOf(account_id), {
    user: {
      account_id,
      first_name: 'Frida',
      last_name: 'Full',
      email: newAddress(),
      roles: 'full',
      ...more,
    },
  });

export const INVALID_ROLE = refusal(
  'AccountUser.roles',
  'invalid_value / invalid_role',
  'Role must be one of: owner, full, full,billing, partial, partial,billing',
  'Invalid role specified',
);
export const LAST_OWNER = refusal(
  'AccountUser.roles',
  'invalid_value / last_owner',
  'The last owner of an account cannot be removed or changed. Add another owner first and wait until they accept',
);
