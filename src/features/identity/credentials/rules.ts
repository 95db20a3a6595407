import type { Caller, CallerLimits } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { type Fault, InvalidRequest } from '../../../lib/failures.ts';
import { findSeenInstalls, type NamedInstall } from './store.ts';

/** What a credential shall leave of its person's rights. Installs are told by their ids, or, by the operator, by names. */
export interface WantedLimits {
  readOnly: boolean;
  accountId: string | null;
  installs: { by: 'id' | 'name'; values: readonly string[] } | null;
}

export interface GrantedLimits extends CallerLimits {
  installs: readonly NamedInstall[] | null;
}

/**
 * The limits as they are kept, if the person reaches all that they name now. What there is not, and what they do not see, is
 * refused alike. `faults` are those found before; throws InvalidRequest with all together.
 */
export async function requireLimits(
  queries: Queries,
  person: Caller,
  { readOnly, accountId, installs }: WantedLimits,
  faults: Fault[],
): Promise<GrantedLimits> {
  const wrong = [...faults];
  let found: NamedInstall[] | null = null;
  if (accountId === null) {
    if (installs !== null) wrong.push(NO_ACCOUNT);
  } else if (!(await findMembership(queries, person, accountId))) {
    wrong.push(FOREIGN_ACCOUNT);
  } else if (installs !== null) {
    const { by, values } = installs;
    found = await findSeenInstalls(queries, person, accountId, installs);
    const seen = new Set(found.map((install) => install[by]));
    for (const [index, value] of values.entries()) {
      if (!seen.has(value))
        wrong.push(foreignInstall(index, by === 'name' ? `install "${value}"` : 'such install'));
    }
  }
  const [first] = wrong;
  if (first) throw new InvalidRequest(first.message, wrong);
  return { readOnly, accountId, installs: found, installIds: found?.map((install) => install.id) ?? null };
}

const NO_ACCOUNT: Fault = {
  resource: 'Credential',
  field: 'account_id',
  type: 'missing_field',
  code: 'required',
  message: 'Say which account the installs are in',
};

const FOREIGN_ACCOUNT: Fault = {
  resource: 'Credential',
  field: 'account_id',
  type: 'access_error',
  code: 'not_permitted',
  message: 'It is no account that the owner of the credential is in',
};

function foreignInstall(index: number, what: string): Fault {
  return {
    resource: 'Credential',
    field: `install_ids.${index}`,
    type: 'access_error',
    code: 'not_permitted',
    message: `There is no ${what} in the account, among those that the owner of the credential sees`,
  };
}

/** The expiry as it is kept, or what is wrong with it. */
export function readExpiry(text: string | null, now: Date): { expiresAt: string | null; faults: Fault[] } {
  if (text === null) return { expiresAt: null, faults: [] };
  const at = Date.parse(text);
  // A leap second is a time to the schema, and none to the platform.
  if (!Number.isNaN(at) && at > now.getTime()) return { expiresAt: new Date(at).toISOString(), faults: [] };
  return {
    expiresAt: null,
    faults: [
      {
        resource: 'Credential',
        field: 'expires_at',
        type: 'invalid_value',
        code: 'past',
        message: 'The expiry must be in the future',
      },
    ],
  };
}
