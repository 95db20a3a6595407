import type { Route } from '../../../api/route.ts';
import { route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { visitBodyRoute, visitRoute } from '../../../api/visit-route.ts';
import { NotFound } from '../../../lib/failures.ts';
import { newPassword, newPasswordTexts } from '../passwords/routes.ts';
import type { InvitationService } from './service.ts';

export function invitationRoutes(invitations: InvitationService): Route[] {
  const tag = 'Invitations';
  return [
    visitRoute({
      method: 'GET',
      path: '/invitations/:token',
      operationId: 'getInvitation',
      summary: 'The invitation of a link',
      tag,
      errors: [403, 404, 429, 503],
      stages: 'anybody',
      success: 200,
      response: Type.Object({
        account_name: Type.String(),
        first_name: Type.String(),
        email: Type.String(),
        has_password: Type.Boolean({ description: 'users with a password keep it' }),
      }),
      async handle({ text }) {
        const invitation = await invitations.find(text('token'));
        if (!invitation) throw new NotFound();
        const { account_name, first_name, email, has_password } = invitation;
        return { account_name, first_name, email, has_password };
      },
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/invitations/:token',
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation; users without a password choose one',
      tag,
      errors: [400, 403, 404, 429, 503],
      stages: 'anybody',
      success: 204,
      body: {
        resource: 'Invitation',
        schema: Type.Object({ password: Type.Optional(newPassword) }),
        texts: { password: newPasswordTexts },
      },
      handle: ({ text, address, requestId }, { password }) =>
        invitations.accept(text('token'), password ?? null, { address, requestId }),
    }),
    visitRoute({
      method: 'DELETE',
      path: '/invitations/:token',
      operationId: 'declineInvitation',
      summary: 'Decline an invitation, and delete the membership',
      tag,
      errors: [403, 404, 429, 503],
      stages: 'anybody',
      success: 204,
      handle: ({ text, address, requestId }) => invitations.decline(text('token'), { address, requestId }),
    }),
    route({
      method: 'POST',
      path: '/accounts/:account_id/account_users/:user_id/invitation',
      operationId: 'sendInvitationAgain',
      summary: 'Send an invitation again; the link of the earlier mail stops working',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 202,
      handle: ({ caller, id }) => invitations.sendAgain(caller, id('account_id'), id('user_id')),
    }),
  ];
}
