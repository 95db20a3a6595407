import type { RequestOrigin } from '../../../access/caller.ts';
import type { Session } from '../../../access/session.ts';
import type { Queries } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { createPasskeyVerifier, type PasskeyMatch, type PasskeyVerifier } from '../webauthn/verifier.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import type { PresentedFactor } from './schema.ts';
import { findSecondFactor, spendRecoveryCode, spendStep } from './store.ts';
import { sixDigits, stepOfCode } from './totp.ts';

/** A second factor that matches. It works once, so {@link FactorVerifier.use} decides whether it is still valid. */
export type FactorMatch =
  | { kind: 'one_time_code'; userId: string; sealedSecret: string; step: number }
  | { kind: 'recovery_code'; userId: string; codeHash: string }
  | PasskeyMatch;

export interface FactorVerifier {
  /** Recognises a current one-time code, a well-formed recovery code or a passkey of the user; undefined: none of them. */
  match(
    session: Session,
    presented: PresentedFactor,
    origin: RequestOrigin,
  ): Promise<FactorMatch | undefined>;
  /** Uses the factor up, in the transaction that it permits. Returns false if it is unknown or already used. */
  use(queries: Queries, match: FactorMatch): Promise<boolean>;
}

export function createFactorVerifier(
  platform: Platform,
  passkeys: PasskeyVerifier = createPasskeyVerifier(platform),
): FactorVerifier {
  const { database, clock, sealer } = platform;

  async function matchCode(userId: string, typed: string): Promise<FactorMatch | undefined> {
    const codeHash = hashRecoveryCode(typed);
    if (codeHash !== undefined) return { kind: 'recovery_code', userId, codeHash };
    const digits = sixDigits(typed);
    if (digits === undefined) return undefined;
    const factor = await findSecondFactor(database.reader, userId);
    if (!factor || factor.confirmed_at === null) return undefined;
    const step = await stepOfCode(sealer.open(factor.sealed_secret), digits, clock.now());
    if (step === undefined) return undefined;
    return { kind: 'one_time_code', userId, sealedSecret: factor.sealed_secret, step };
  }

  return {
    async match({ id: browser, userId, stage }, { code, passkey }, origin) {
      if (code !== undefined) return matchCode(userId, code);
      if (passkey === undefined) return undefined;
      const purpose = stage === 'second_factor' ? 'second_factor' : 'confirmation';
      return passkeys.match(passkey, { use: { purpose, browser }, userId, origin });
    },
    use(queries, match) {
      switch (match.kind) {
        case 'one_time_code':
          return spendStep(queries, match.userId, match);
        case 'recovery_code':
          return spendRecoveryCode(queries, match.userId, match.codeHash, timestamp(clock));
        case 'passkey':
          return passkeys.use(queries, match);
      }
    },
  };
}
