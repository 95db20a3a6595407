import type { Route } from '../../../api/route.ts';
import { emailAddress, Type } from '../../../api/schema.ts';
import { visitBodyRoute, visitRoute } from '../../../api/visit-route.ts';
import { codeSchema } from '../sessions/schema.ts';
import type { EmailChangeService } from './service.ts';

export function emailChangeRoutes(changes: EmailChangeService): Route[] {
  const tag = 'Profile';
  return [
    visitBodyRoute({
      method: 'POST',
      path: '/email_changes',
      summary:
        'Ask for another e-mail address: a link is mailed there; the answer is the same whoever has the address',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: ['full'],
      success: 202,
      body: {
        resource: 'EmailChange',
        schema: Type.Object({
          email: emailAddress(),
          current_password: Type.String({ minLength: 1, maxLength: 1024 }),
          code: Type.Optional(codeSchema.properties.code),
        }),
        texts: {
          email: { invalid: { summary: 'This is no e-mail address', message: 'This is no e-mail address' } },
        },
      },
      handle: ({ session, address, requestId }, body) =>
        changes.request(session, body, { address, requestId }),
    }),
    visitRoute({
      method: 'GET',
      path: '/email_changes/:token',
      summary: 'Which address a link confirms; it must be your own',
      tag,
      errors: [401, 403, 404, 429, 503],
      stages: ['full'],
      success: 200,
      response: Type.Object({ email: Type.String() }),
      handle: ({ session, text }) => changes.find(session, text('token')),
    }),
    visitRoute({
      method: 'POST',
      path: '/email_changes/:token',
      summary: 'Make it your e-mail address; links that were mailed to the old one stop working',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      stages: ['full'],
      success: 204,
      handle: ({ session, text, address, requestId }) =>
        changes.confirm(session, text('token'), { address, requestId }),
    }),
  ];
}
