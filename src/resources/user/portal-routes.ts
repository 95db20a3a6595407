import { bodyRoute, type Route } from '../../api/route.ts';
import { Type } from '../../api/schema.ts';
import { NOT_BLANK } from '../../api/validation.ts';
import { signedInUserSchema } from '../sessions/schema.ts';
import type { ProfileService } from './profile.ts';

const name = Type.String({ pattern: NOT_BLANK, maxLength: 100 });

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
          first_name: Type.Optional(name),
          last_name: Type.Optional(name),
          phone: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 40 })),
        }),
      },
      handle: ({ caller }, body) => profile.update(caller, body),
    }),
  ];
}
