import { emailAddress, Type } from '../../api/schema.ts';
import { bodyParser } from '../../api/validation.ts';
import { createAccountUserBody } from '../../features/accounts/account-users/schema.ts';

// The command line validates users as the API does.

/** A user who is added to an account. */
export const parseUser = bodyParser(createAccountUserBody);

/** Fields of a user that an operator can change. */
export const parseChange = bodyParser({
  resource: 'User',
  schema: Type.Object({
    email: Type.Optional(emailAddress()),
    first_name: Type.Optional(Type.String()),
    last_name: Type.Optional(Type.String()),
  }),
  texts: {
    email: {
      invalid: { summary: 'Invalid email address', message: 'This is not an email address' },
    },
  },
});
