import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Gate } from '../../api/gate.ts';
import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../../passwords.ts';
import { acceptedPage, expiredPage, invitationPage } from './markup.ts';
import type { InvitationService } from './service.ts';

const LARGEST_FORM_BYTES = 16 * 1024;

/** The page behind the link of an invitation, on which the invited person sets a password and so accepts. */
export function invitationPages(invitations: InvitationService, gate: Gate) {
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: LARGEST_FORM_BYTES },
      async (_request: unknown, body: string) => new URLSearchParams(body),
    );
    // A guesser of tokens is held to the limit of an address without credentials.
    app.addHook('preHandler', (request, reply) => gate.anonymous(request, reply));

    app.get<{ Params: { token: string } }>(
      '/invitations/:token',
      { schema: { hide: true } },
      async (request, reply) => {
        const invitation = await invitations.find(request.params.token);
        return invitation ? html(reply, 200, invitationPage(invitation)) : html(reply, 404, expiredPage());
      },
    );

    app.post<{ Params: { token: string } }>(
      '/invitations/:token',
      { schema: { hide: true } },
      async (request, reply) => {
        const { token } = request.params;
        const invitation = await invitations.find(token);
        if (!invitation) return html(reply, 404, expiredPage());
        let password: string | null = null;
        if (!invitation.has_password) {
          const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
          password = form.get('password') ?? '';
          const fault = passwordFault(password, form.get('repeated') ?? '');
          if (fault !== undefined) return html(reply, 400, invitationPage(invitation, fault));
        }
        return (await invitations.accept(token, password))
          ? html(reply, 200, acceptedPage(invitation))
          : html(reply, 404, expiredPage());
      },
    );
  };
}

function passwordFault(password: string, repeated: string): string | undefined {
  if (password.length < SHORTEST_PASSWORD)
    return `The password must have at least ${SHORTEST_PASSWORD} characters.`;
  if (password.length > LONGEST_PASSWORD)
    return `The password must have at most ${LONGEST_PASSWORD} characters.`;
  if (password !== repeated) return 'The two passwords are not the same.';
  return undefined;
}

function html(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      // The address of this page is a secret.
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'x-content-type-options': 'nosniff',
    })
    .send(page);
}
