import type { Route } from '../../../api/route.ts';
import { emailAddress, Type } from '../../../api/schema.ts';
import { visitBodyRoute, visitRoute } from '../../../api/visit-route.ts';
import { factorSchema } from '../second-factor/schema.ts';
import type { EmailChangeService } from './service.ts';

export function emailChangeRoutes(changes: EmailChangeService): Route[] {
  const tag = 'Profile';
  return [
    visitBodyRoute({
      method: 'POST',
      path: '/email_changes',
      operationId: 'requestEmailChange',
      summary:
        'Request another email address and mail a link there; the answer does not reveal whether another user has it',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: ['full'],
      success: 202,
      body: {
        resource: 'EmailChange',
        schema: Type.Object({
          email: emailAddress(),
          current_password: Type.String({ minLength: 1, maxLength: 1024 }),
          ...factorSchema.properties,
        }),
        texts: {
          email: {
            invalid: {
              summary: 'Invalid email address',
              message: 'Email address must be like name@example.com',
            },
          },
        },
      },
      handle: ({ session, address, requestId }, body) =>
        changes.request(session, body, { address, requestId }),
    }),
    visitRoute({
      method: 'GET',
      path: '/email_changes/:token',
      operationId: 'getEmailChange',
      summary: 'The address that a link of yours confirms',
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
      operationId: 'confirmEmailChange',
      summary: 'Confirm your new email address; links mailed to the old one stop working',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      stages: ['full'],
      success: 204,
      handle: ({ session, text, address, requestId }) =>
        changes.confirm(session, text('token'), { address, requestId }),
    }),
  ];
}
