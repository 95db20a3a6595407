import type { Session, SessionStage } from '../../../access/session.ts';
import { displayNameTexts } from '../../../api/display-name.ts';
import { bodyRoute, type Route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { type Visit, visitBodyRoute, visitRoute } from '../../../api/visit-route.ts';
import { NotFound } from '../../../lib/failures.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { factorSchema, identitySchema } from '../second-factor/schema.ts';
import {
  creationOptionsSchema,
  passkeyName,
  passkeySchema,
  registrationSchema,
  requestOptionsSchema,
} from '../webauthn/schema.ts';
import type { PasskeyService } from './service.ts';

/** Stages that may add a passkey, including users whose account requires a second factor. */
const ENROLLING: readonly SessionStage[] = ['enrolment', 'full'];

const resource = 'Passkey';
const nameTexts = { name: displayNameTexts('The name') };

export function passkeyRoutes(passkeys: PasskeyService): Route[] {
  const tag = 'Second factor';
  const errors = [400, 401, 403, 429, 503] as const;
  return [
    visitRoute({
      method: 'GET',
      path: '/passkeys',
      operationId: 'listPasskeys',
      summary: 'Your passkeys, oldest first',
      tag,
      errors: [401, 403, 429, 503],
      stages: ENROLLING,
      success: 200,
      response: Type.Object({
        available: Type.Boolean({
          description: 'false: the portal is at an IP address or uses plain HTTP, where passkeys do not work',
        }),
        results: Type.Array(passkeySchema),
      }),
      handle: (visit) => passkeys.list(sessionOf(visit)),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/passkeys/options',
      operationId: 'startPasskey',
      summary: 'Start to add a passkey, with your password or your second factor if you have one',
      tag,
      errors,
      stages: ENROLLING,
      success: 200,
      response: creationOptionsSchema,
      body: { resource, schema: identitySchema },
      handle: (visit, presented) => passkeys.creationOptions(sessionOf(visit), presented, visit),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/passkeys',
      operationId: 'addPasskey',
      summary: 'Add a passkey that the browser created; the first second factor ends your other sessions',
      tag,
      errors,
      stages: ENROLLING,
      success: 201,
      response: Type.Object({
        passkey: passkeySchema,
        recovery_codes: Type.Array(Type.String(), {
          description: 'ten codes that work once each, if you had no second factor before; shown only once',
        }),
      }),
      body: {
        resource,
        schema: Type.Object({ credential: registrationSchema, name: Type.Optional(passkeyName) }),
        texts: nameTexts,
      },
      async handle(visit, created) {
        const { passkey, recoveryCodes, renewed } = await passkeys.add(sessionOf(visit), created, visit);
        if (renewed) visit.cookies.set(renewed);
        return { passkey, recovery_codes: recoveryCodes };
      },
    }),
    visitRoute({
      method: 'POST',
      path: '/passkeys/confirmation_options',
      operationId: 'startPasskeyConfirmation',
      summary: 'Start to confirm a change with one of your passkeys',
      tag,
      errors,
      stages: ENROLLING,
      success: 200,
      response: requestOptionsSchema,
      handle: (visit) => passkeys.confirmationOptions(sessionOf(visit)),
    }),
    bodyRoute({
      method: 'PATCH',
      path: '/passkeys/:passkey_id',
      operationId: 'renamePasskey',
      summary: 'Rename one of your passkeys',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      success: 200,
      response: passkeySchema,
      body: { resource, schema: Type.Object({ name: passkeyName }), texts: nameTexts },
      handle: ({ caller, id }, { name }) => passkeys.rename(caller, id('passkey_id'), name),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/passkeys/:passkey_id/removal',
      operationId: 'removePasskey',
      summary: 'Remove one of your passkeys, with a code or a passkey',
      tag,
      errors: [400, 401, 403, 404, 429, 503],
      stages: ['full'],
      success: 204,
      body: { resource, schema: factorSchema },
      async handle(visit, presented) {
        const id = parseUuid(visit.text('passkey_id'));
        if (id === undefined) throw new NotFound();
        await passkeys.remove(sessionOf(visit), id, presented, visit);
      },
    }),
  ];
}

function sessionOf({ session }: Visit): Session {
  if (!session) throw new Error('a request reached its handler without a session');
  return session;
}
