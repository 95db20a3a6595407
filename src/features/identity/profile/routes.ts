import { type Route, route } from '../../../api/route.ts';
import { Type, uuid } from '../../../api/schema.ts';
import type { ProfileService } from './service.ts';

const currentUserSchema = Type.Object(
  {
    id: uuid(),
    first_name: Type.String(),
    last_name: Type.String(),
    email: Type.String(),
    phone_number: Type.Optional(Type.String({ description: 'left out when there is none' })),
  },
  { description: 'Whom the credentials belong to' },
);

export function userRoutes(profile: Pick<ProfileService, 'read'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/user',
      summary: 'Who you are; a test of credentials',
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
