import { displayName, displayNameTexts } from '../../../api/display-name.ts';
import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { bodyRoute, type Route, route } from '../../../api/route.ts';
import { component, Type, uuid } from '../../../api/schema.ts';
import { signedInUserSchema } from '../sessions/schema.ts';
import type { ProfileService } from './service.ts';

const currentUserSchema = component(
  'User',
  Type.Object(
    {
      id: uuid(),
      first_name: Type.String(),
      last_name: Type.String(),
      email: Type.String(),
      phone_number: Type.Optional(Type.String({ description: 'omitted without a number' })),
    },
    { description: 'The user of the credentials' },
  ),
  {
    id: EXAMPLE_ID.user,
    first_name: 'Ada',
    last_name: 'Example',
    email: 'ada@example.com',
    phone_number: '+1 555 0100',
  },
);

export function userRoutes(profile: Pick<ProfileService, 'read'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/user',
      operationId: 'getCurrentUser',
      summary: 'Get the current user',
      description: 'Returns the user of the credential. A simple test of credentials.',
      tag: 'User',
      errors: [401, 429, 503],
      success: 200,
      response: currentUserSchema,
      async handle({ caller }) {
        const { id, first_name, last_name, email, phone } = await profile.read(caller);
        const known = { id, first_name, last_name, email };
        return phone === null ? known : { ...known, phone_number: phone };
      },
    }),
  ];
}

const LONGEST = 40;
/** Digits with separators and an optional extension. White space alone is accepted and means no number. */
const NUMBER = '^ *(\\+?[0-9(][0-9 ()./\\p{Pd}]+(?:(?:x|ext\\.?|;ext=) ?[0-9]+)? *)?$';

/** Schema of a telephone number; null: none. */
export const telephone = () =>
  Type.Unsafe<string | null>({ type: ['string', 'null'], pattern: NUMBER, maxLength: LONGEST });

const message = 'A telephone number may contain only digits, spaces and + ( ) . / -';

const telephoneTexts = { invalid: { summary: message, message } };

/** Routes that only the portal has. */
export function profileRoutes(profile: ProfileService): Route[] {
  return [
    route({
      method: 'GET',
      path: '/profile',
      operationId: 'getProfile',
      summary: 'Your profile',
      tag: 'Profile',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: signedInUserSchema,
      handle: ({ caller }) => profile.read(caller),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/profile',
      operationId: 'updateProfile',
      summary: 'Change your name or telephone number',
      tag: 'Profile',
      errors: [400, 401, 403, 429, 503],
      success: 200,
      response: signedInUserSchema,
      body: {
        resource: 'User',
        schema: Type.Object({
          first_name: Type.Optional(displayName()),
          last_name: Type.Optional(displayName()),
          phone: Type.Optional(telephone()),
        }),
        texts: {
          first_name: displayNameTexts('The first name'),
          last_name: displayNameTexts('The last name'),
          phone: telephoneTexts,
        },
      },
      handle: ({ caller }, body) => profile.update(caller, body),
    }),
  ];
}
