import { SESSION_STAGES } from '../../../access/session.ts';
import { type Route, route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { type Visit, visitBodyRoute, visitRoute } from '../../../api/visit-route.ts';
import { factorSchema } from '../second-factor/schema.ts';
import { presentSessionSchema, sessionSchema, signInSchema, stageSchema } from '../sessions/schema.ts';
import { assertionSchema, requestOptionsSchema } from '../webauthn/schema.ts';
import type { SessionService } from './service.ts';

export function sessionRoutes(sessions: SessionService): Route[] {
  const tag = 'Sessions';
  return [
    visitBodyRoute({
      method: 'POST',
      path: '/session',
      operationId: 'signIn',
      summary: 'Sign in with email address and password; sets the cookie',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: 'anybody',
      success: 200,
      response: stageSchema,
      body: { resource: 'Session', schema: signInSchema },
      async handle({ cookies, session, device, address, userAgent, requestId }, { email, password }) {
        const made = await sessions.signIn({
          email,
          password,
          address,
          userAgent,
          requestId,
          replaced: session,
          device,
        });
        cookies.set(made);
        return { stage: made.stage };
      },
    }),
    visitRoute({
      method: 'POST',
      path: '/session/passkey/options',
      operationId: 'startPasskeySignIn',
      summary:
        'Start to sign in with a passkey alone; sets a cookie that binds the challenge to this browser',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: 'anybody',
      success: 200,
      response: requestOptionsSchema,
      async handle({ passkeyBrowser, cookies }) {
        const { options, browser } = await sessions.passkeyOptions(passkeyBrowser);
        cookies.setPasskeyBrowser(browser);
        return options;
      },
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/session/passkey',
      operationId: 'signInWithPasskey',
      summary: 'Sign in with a passkey, without password and second factor; sets the cookie',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: 'anybody',
      success: 200,
      response: stageSchema,
      body: { resource: 'Session', schema: Type.Object({ passkey: assertionSchema }) },
      async handle({ session, ...visit }, { passkey }) {
        const made = await sessions.signInWithPasskey({ ...visit, passkey, replaced: session });
        visit.cookies.set(made);
        return { stage: made.stage };
      },
    }),
    visitRoute({
      method: 'POST',
      path: '/session/second_factor/options',
      operationId: 'startPasskeySecondFactor',
      summary: 'Start to finish signing in with a passkey',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: ['second_factor'],
      success: 200,
      response: requestOptionsSchema,
      handle: (visit) => sessions.secondFactorOptions(sessionOf(visit)),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/session/second_factor',
      operationId: 'passSecondFactor',
      summary: 'Finish signing in with a one-time code, a recovery code or a passkey; renews the cookie',
      tag,
      errors: [400, 401, 403, 429, 503],
      stages: ['second_factor'],
      success: 200,
      response: stageSchema,
      body: { resource: 'Session', schema: factorSchema },
      async handle(visit, presented) {
        const made = await sessions.passSecondFactor(sessionOf(visit), presented, visit);
        visit.cookies.set(made);
        return { stage: made.stage };
      },
    }),
    visitRoute({
      method: 'GET',
      path: '/session',
      operationId: 'getSession',
      summary: 'The signed-in user, their sign-in stage and their permissions by account',
      tag,
      errors: [401, 403, 429, 503],
      stages: SESSION_STAGES,
      success: 200,
      response: presentSessionSchema,
      handle: (visit) => sessions.present(sessionOf(visit)),
    }),
    visitRoute({
      method: 'DELETE',
      path: '/session',
      operationId: 'signOut',
      summary: 'Sign out',
      tag,
      errors: [401, 403, 429, 503],
      stages: 'anybody',
      success: 204,
      async handle({ session, cookies, address, requestId }) {
        if (session) await sessions.signOut(session, { address, requestId });
        cookies.clear();
      },
    }),
    visitRoute({
      method: 'GET',
      path: '/sessions',
      operationId: 'listSessions',
      summary: 'Your sessions, latest first',
      tag,
      errors: [401, 403, 429, 503],
      stages: ['full'],
      success: 200,
      response: Type.Object({ results: Type.Array(sessionSchema) }),
      handle: async (visit) => ({ results: await sessions.list(sessionOf(visit)) }),
    }),
    route({
      method: 'DELETE',
      path: '/sessions/:session_id',
      operationId: 'endSession',
      summary: 'End one of your sessions',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 204,
      handle: ({ caller, id }) => sessions.end(caller, id('session_id')),
    }),
    visitRoute({
      method: 'DELETE',
      path: '/sessions',
      operationId: 'endOtherSessions',
      summary: 'End all your other sessions; renews the cookie',
      tag,
      errors: [401, 403, 429, 503],
      stages: ['full'],
      success: 204,
      async handle(visit) {
        visit.cookies.set(await sessions.endOthers(sessionOf(visit), visit));
      },
    }),
  ];
}

function sessionOf({ session }: Visit) {
  if (!session) throw new Error('a request reached its handler without a session');
  return session;
}
