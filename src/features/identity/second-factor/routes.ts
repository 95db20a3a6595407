import type { SessionStage } from '../../../access/session.ts';
import type { Route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import { visitBodyRoute, visitRoute } from '../../../api/visit-route.ts';
import { codeSchema, factorSchema, identitySchema } from './schema.ts';
import type { SecondFactorService } from './service.ts';

/** Stages that may enrol, including users whose account requires it. */
const ENROLLING: readonly SessionStage[] = ['enrolment', 'full'];

const recoveryCodes = Type.Object({
  recovery_codes: Type.Array(Type.String(), {
    description: 'ten codes that work once each; shown only once',
  }),
});

export function secondFactorRoutes(factors: SecondFactorService): Route[] {
  const tag = 'Second factor';
  const errors = [400, 401, 403, 429, 503] as const;
  return [
    visitRoute({
      method: 'GET',
      path: '/second_factor',
      operationId: 'getSecondFactor',
      summary: 'The state of your second factor',
      tag,
      errors: [401, 403, 429, 503],
      stages: ENROLLING,
      success: 200,
      response: Type.Object({
        enabled: Type.Boolean({ description: 'the password alone does not sign in' }),
        one_time_codes: Type.Boolean(),
        passkeys: Type.Integer(),
        recovery_codes_left: Type.Integer(),
        required_by: Type.Array(Type.String(), { description: 'names of your accounts that require one' }),
      }),
      handle: ({ session }) => factors.status(session),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/second_factor/enrolment',
      operationId: 'enrolSecondFactor',
      summary:
        'Start an enrolment of one-time codes: returns a new secret, active once a code of it is confirmed. Takes your password, or your second factor if you have a passkey',
      tag,
      errors,
      stages: ENROLLING,
      success: 200,
      response: Type.Object({
        secret: Type.String({ description: 'base32, to type into an app that cannot scan the QR code' }),
        uri: Type.String({ description: '`otpauth://…`, the content of the QR code' }),
      }),
      body: { resource: 'SecondFactor', schema: identitySchema },
      handle: ({ session, address, requestId }, presented) =>
        factors.enrol(session, presented, { address, requestId }),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/second_factor',
      operationId: 'enableSecondFactor',
      summary:
        'Switch one-time codes on with a code from the app; ends your other sessions and renews the cookie',
      tag,
      errors,
      stages: ENROLLING,
      success: 200,
      response: recoveryCodes,
      body: { resource: 'SecondFactor', schema: codeSchema },
      async handle({ session, cookies, address, requestId }, { code }) {
        const { recoveryCodes, renewed } = await factors.confirm(session, code, { address, requestId });
        cookies.set(renewed);
        return { recovery_codes: recoveryCodes };
      },
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/second_factor/removal',
      operationId: 'removeSecondFactor',
      summary: 'Switch one-time codes off, with a code or a passkey',
      tag,
      errors,
      stages: ['full'],
      success: 204,
      body: { resource: 'SecondFactor', schema: factorSchema },
      handle: ({ session, address, requestId }, presented) =>
        factors.remove(session, presented, { address, requestId }),
    }),
    visitBodyRoute({
      method: 'POST',
      path: '/second_factor/recovery_codes',
      operationId: 'renewRecoveryCodes',
      summary: 'Replace your recovery codes, with a code or a passkey',
      tag,
      errors,
      stages: ['full'],
      success: 200,
      response: recoveryCodes,
      body: { resource: 'SecondFactor', schema: factorSchema },
      handle: ({ session, address, requestId }, presented) =>
        factors.renewRecoveryCodes(session, presented, { address, requestId }),
    }),
  ];
}
