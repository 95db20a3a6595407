import type { Static } from 'typebox';
import { Type } from '../../../api/schema.ts';
import { assertionSchema } from '../webauthn/schema.ts';

const code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'six digits from the app, or a recovery code',
});

/** A code that the user types. */
export const codeSchema = Type.Object({ code });

/** A second factor: either a code or a passkey. */
export const factorSchema = Type.Object({
  code: Type.Optional(code),
  passkey: Type.Optional(assertionSchema),
});
export type PresentedFactor = Static<typeof factorSchema>;

/** What confirms that it is the user: the password, or the second factor if they have one. */
export const identitySchema = Type.Object({
  password: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1024, description: 'without a second factor' }),
  ),
  ...factorSchema.properties,
});
export type PresentedIdentity = Static<typeof identitySchema>;
