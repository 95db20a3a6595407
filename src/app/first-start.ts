import { uniqueViolation } from '../database/unique-violation.ts';
import { insertOwnedAccount } from '../features/accounts/account-users/store.ts';
import type { IssuedCredential } from '../features/identity/credentials/service.ts';
import { timestamp } from '../lib/clock.ts';
import type { Platform } from '../platform/platform.ts';
import type { Services } from './services.ts';

/** The results of the first start, shown once. */
export interface FirstOwner {
  accountId: string;
  userId: string;
  email: string;
  credential: IssuedCredential;
  /** Link for the owner to set a password for the portal. */
  passwordLink: string;
}

const OWNER_EMAIL = 'owner@localhost';

/** Creates the first account with its owner, a credential and a password link; undefined if users exist. */
export async function ensureOwner(platform: Platform, services: Services): Promise<FirstOwner | undefined> {
  const { config, database, clock, random } = platform;
  const anybody = await database.reader.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (anybody) return undefined;
  const accountId = random.uuid();
  const userId = random.uuid();
  try {
    await database.write(({ queries }) =>
      insertOwnedAccount(queries, {
        account: { id: accountId, name: 'My account' },
        owner: { id: userId, email: OWNER_EMAIL, first_name: 'First', last_name: 'Owner' },
        created_at: timestamp(clock),
      }),
    );
  } catch (error) {
    // Another process started for the first time at the same moment.
    if (uniqueViolation(error) === 'users.email_key') return undefined;
    throw error;
  }
  const credential = await services.credentials.issue(userId, {
    name: 'first start',
    ...(config.initialCredential ? { given: config.initialCredential } : {}),
  });
  const passwordLink = await services.passwords.createLink(userId, 'first');
  return { accountId, userId, email: OWNER_EMAIL, credential, passwordLink };
}
