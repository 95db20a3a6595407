import { emailAddress, Type } from '../../api/schema.ts';
import { bodyParser } from '../../api/validation.ts';
import { createAccountUserBody } from '../../features/accounts/account-users/schema.ts';

// People are checked on the command line as the API checks them.

/** A person who is added to an account. */
export const parseUser = bodyParser(createAccountUserBody);

/** What an operator changes of a person. */
export const parseChange = bodyParser({
  resource: 'User',
  schema: Type.Object({
    email: Type.Optional(emailAddress()),
    first_name: Type.Optional(Type.String()),
    last_name: Type.Optional(Type.String()),
  }),
  texts: {
    email: {
      invalid: { summary: 'Invalid e-mail address', message: 'This is no e-mail address' },
    },
  },
});
