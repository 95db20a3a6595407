import type { Static } from 'typebox';
import { displayName } from '../../../api/display-name.ts';
import { nullableTimestamp, stringEnum, Type, timestamp, uuid } from '../../../api/schema.ts';

const base64url = (maxLength: number) => Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength });

/** At most 1,023 bytes (WebAuthn, section 4). */
const credentialId = () => base64url(1_364);
const clientData = () => base64url(4_096);

/** The browser's answer to request options: `AuthenticationResponseJSON` of WebAuthn. Other members are ignored. */
export const assertionSchema = Type.Object(
  {
    id: credentialId(),
    response: Type.Object({
      clientDataJSON: clientData(),
      authenticatorData: base64url(2_048),
      signature: base64url(2_048),
      userHandle: Type.Optional(base64url(86)),
    }),
  },
  { description: 'the answer of `navigator.credentials.get`, as `toJSON()` gives it' },
);
export type Assertion = Static<typeof assertionSchema>;

/** The browser's answer to creation options: `RegistrationResponseJSON` of WebAuthn. Other members are ignored. */
export const registrationSchema = Type.Object(
  {
    id: credentialId(),
    response: Type.Object({
      clientDataJSON: clientData(),
      attestationObject: base64url(8_192),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 10 })),
    }),
  },
  { description: 'the answer of `navigator.credentials.create`, as `toJSON()` gives it' },
);
export type Registration = Static<typeof registrationSchema>;

const descriptor = Type.Object({
  id: Type.String(),
  type: stringEnum(['public-key']),
  transports: Type.Array(Type.String()),
});

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
export const requestOptionsSchema = Type.Object({
  challenge: Type.String({ description: 'works once, for five minutes, in this browser' }),
  rpId: Type.String(),
  timeout: Type.Integer(),
  userVerification: stringEnum(['required']),
  allowCredentials: Type.Array(descriptor, {
    description: 'empty at sign-in: the browser offers the passkeys that it has',
  }),
});
export type RequestOptions = Static<typeof requestOptionsSchema>;

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. */
export const creationOptionsSchema = Type.Object({
  challenge: Type.String({ description: 'works once, for five minutes, in this session' }),
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(Type.Object({ type: stringEnum(['public-key']), alg: Type.Integer() })),
  timeout: Type.Integer(),
  attestation: stringEnum(['none']),
  authenticatorSelection: Type.Object({
    residentKey: stringEnum(['required']),
    requireResidentKey: Type.Boolean(),
    userVerification: stringEnum(['required']),
  }),
  excludeCredentials: Type.Array(descriptor),
});
export type CreationOptions = Static<typeof creationOptionsSchema>;

export const passkeyName = displayName();

export const passkeySchema = Type.Object({
  id: uuid(),
  name: Type.String(),
  synced: Type.Boolean({ description: 'a copy is in a password manager, so losing a device loses nothing' }),
  created_at: timestamp(),
  last_used_at: nullableTimestamp('to the minute; null: never used'),
});
export type PasskeyView = Static<typeof passkeySchema>;
