import type { Route } from '../../../api/route.ts';
import { emailAddress, stringEnum, Type } from '../../../api/schema.ts';
import { visitBodyRoute, visitRoute } from '../../../api/visit-route.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from './rules.ts';
import type { PasswordService } from './service.ts';

/** A password chosen by a user. */
export const newPassword = Type.String({ minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD });

export const newPasswordTexts = {
  required: { summary: 'Choose a password', message: 'Choose a password' },
  invalid: {
    summary: 'The password is too short',
    code: 'too_short',
    message: `The password must have at least ${SHORTEST_PASSWORD} characters`,
  },
  too_long: {
    summary: 'The password is too long',
    message: `The password must have at most ${LONGEST_PASSWORD} characters`,
  },
};

export function passwordRoutes(passwords: PasswordService): Route[] {
  const tag = 'Passwords';
  return [
    visitBodyRoute({
      method: 'POST',
      path: '/password_resets',
      operationId: 'requestPasswordReset',
      summary:
        'Request a mail with a link to set a new password; the answer does not reveal whether a user has the address',
      tag,
      errors: [400, 403, 429, 503],
      stages: 'anybody',
      success: 202,
      body: {
        resource: 'PasswordReset',
        schema: Type.Object({ email: emailAddress() }),
      },
      handle: ({ address, requestId }, { email }) => passwords.requestReset(email, { address, requestId }),
    }),
    visitRoute({
      method: 'GET',
      path: '/password_links/:token',
      operationId: 'getPasswordLink',
      summary: 'The user whose password a link sets',
      tag,
      errors: [403, 404, 429, 503],
      stages: 'anybody',
      success: 200,
      response: Type.Object({
        email: Type.String(),
        first_name: Type.String(),
        purpose: stringEnum(['first', 'reset']),
        api_credentials: Type.Integer({ description: 'the number of the user’s active API credentials' }),
      }),
      handle: ({ text }) => passwords.findLink(text('token')),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/password_links/:token',
      operationId: 'setPassword',
      summary: 'Set a password with a link; ends all sessions of the user, and optionally their API access',
      tag,
      errors: [400, 403, 404, 429, 503],
      stages: 'anybody',
      success: 204,
      body: {
        resource: 'Password',
        schema: Type.Object({
          password: newPassword,
          end_api_access: Type.Optional(
            Type.Boolean({ description: 'also revokes the user’s API credentials' }),
          ),
        }),
        texts: { password: newPasswordTexts },
      },
      async handle({ text, cookies, device, address, requestId }, chosen) {
        const renewed = await passwords.setByLink(text('token'), chosen, { device, address, requestId });
        if (renewed) cookies.setDevice(renewed);
      },
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/password',
      operationId: 'changePassword',
      summary: 'Change your password; ends your other sessions and renews the cookie',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: ['full'],
      success: 204,
      body: {
        resource: 'Password',
        schema: Type.Object({
          current_password: Type.String({ minLength: 1, maxLength: 1024 }),
          password: newPassword,
        }),
        texts: { password: newPasswordTexts },
      },
      async handle({ session, cookies, address, requestId }, body) {
        cookies.set(await passwords.change(session, body, { address, requestId }));
      },
    }),
  ];
}
