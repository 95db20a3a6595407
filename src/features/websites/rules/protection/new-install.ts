import type { Queries } from '../../../../database/database.ts';
import type { Environment } from '../../../../database/tables/installs.ts';
import { timestamp } from '../../../../lib/clock.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { saveRules } from '../store.ts';
import { USUAL_RULES } from '../stored-rules.ts';
import { isPrivateEnvironment } from '../website-rules.ts';
import { newVisitorPassword, storedPassword } from './visitor-passwords.ts';

/**
 * Prepares the protection of a new install: one for staging or development asks its visitors for a password. Returns a function that
 * stores it in the transaction that creates the install; hashing takes too long for a transaction.
 */
export async function protectionOfNewInstall(
  { random, sealer, clock }: Pick<Platform, 'random' | 'sealer' | 'clock'>,
  environment: Environment | null,
): Promise<(queries: Queries, installId: string) => Promise<void>> {
  if (!isPrivateEnvironment(environment)) return async () => {};
  const password = await storedPassword(sealer, newVisitorPassword(random));
  const { protection } = USUAL_RULES;
  return (queries, installId) =>
    saveRules(
      queries,
      installId,
      {
        ...USUAL_RULES,
        ...password,
        protection: { ...protection, password: { ...protection.password, enabled: true } },
      },
      timestamp(clock),
    );
}
