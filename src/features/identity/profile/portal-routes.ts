import { displayName, displayNameTexts } from '../../../api/display-name.ts';
import { bodyRoute, type Route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { signedInUserSchema } from '../sessions/schema.ts';
import { telephone, telephoneTexts } from '../users/telephone.ts';
import type { ProfileService } from './service.ts';

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
