import { bodyRoute, type Route } from '../../api/route.ts';
import { Type } from '../../api/schema.ts';
import { displayName, displayNameTexts } from '../display-name.ts';
import { signedInUserSchema } from '../sessions/schema.ts';
import type { ProfileService } from './profile.ts';
import { telephone, telephoneTexts } from './telephone.ts';

export function profileRoutes(profile: ProfileService): Route[] {
  return [
    bodyRoute({
      method: 'PATCH',
      path: '/profile',
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
