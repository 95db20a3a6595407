import type { Queries } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { findSecondFactor, spendRecoveryCode, spendStep } from './store.ts';
import { sixDigits, stepOfCode } from './totp.ts';

/** A code that matches. It works once, so {@link CodeVerifier.use} decides whether it is still valid. */
export type CodeMatch =
  | { kind: 'one_time_code'; userId: string; sealedSecret: string; step: number }
  | { kind: 'recovery_code'; userId: string; codeHash: string };

export interface CodeVerifier {
  /** Recognises a current one-time code or a well-formed recovery code; undefined: neither. */
  match(userId: string, typed: string): Promise<CodeMatch | undefined>;
  /** Uses the code up, in the transaction that it permits. Returns false if it is unknown or already used. */
  use(queries: Queries, match: CodeMatch): Promise<boolean>;
}

export function createCodeVerifier({
  database,
  clock,
  sealer,
}: Pick<Platform, 'database' | 'clock' | 'sealer'>): CodeVerifier {
  return {
    async match(userId, typed) {
      const codeHash = hashRecoveryCode(typed);
      if (codeHash !== undefined) return { kind: 'recovery_code', userId, codeHash };
      const digits = sixDigits(typed);
      if (digits === undefined) return undefined;
      const factor = await findSecondFactor(database.reader, userId);
      if (!factor || factor.confirmed_at === null) return undefined;
      const step = await stepOfCode(sealer.open(factor.sealed_secret), digits, clock.now());
      if (step === undefined) return undefined;
      return { kind: 'one_time_code', userId, sealedSecret: factor.sealed_secret, step };
    },
    use(queries, match) {
      return match.kind === 'one_time_code'
        ? spendStep(queries, match.userId, match)
        : spendRecoveryCode(queries, match.userId, match.codeHash, timestamp(clock));
    },
  };
}
