import type { Caller, CallerLimits } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { type Fault, InvalidRequest } from '../../../lib/failures.ts';
import { findSeenInstalls, type NamedInstall } from './store.ts';

/** Requested limits of a credential. The operator may give installs by name instead of id. */
export interface WantedLimits {
  readOnly: boolean;
  accountId: string | null;
  installs: { by: 'id' | 'name'; values: readonly string[] } | null;
}

export interface GrantedLimits extends CallerLimits {
  installs: readonly NamedInstall[] | null;
}

/**
 * Checks that the user sees the account and installs that the limits name, and returns the limits to store. Unknown and
 * hidden resources are refused alike. Throws InvalidRequest with all faults, including the `faults` found before.
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

/** The faults of limits that are wider than those of the credential that creates the new one. */
export function faultsOfWidth(
  creator: { limits: CallerLimits | null; expiresAt: string | null },
  { readOnly, accountId, installs }: WantedLimits,
  expiresAt: string | null,
): Fault[] {
  const { limits } = creator;
  const wider = (field: string, message: string): Fault => ({
    resource: 'Credential',
    field,
    type: 'access_error',
    code: 'wider',
    message,
  });
  return [
    ...(limits?.readOnly === true && !readOnly
      ? [wider('read_only', 'This credential is read-only, and creates only read-only credentials')]
      : []),
    // Another account is refused like one that the user is not in.
    ...(limits !== null && limits.accountId !== null && accountId === null
      ? [wider('account_id', 'This credential is limited to one account; give its id')]
      : []),
    ...(limits !== null && limits.installIds !== null && installs === null
      ? [
          wider(
            'install_ids',
            'This credential is limited to some installs; give the ids of the same or fewer',
          ),
        ]
      : []),
    ...(creator.expiresAt !== null && (expiresAt === null || expiresAt > creator.expiresAt)
      ? [
          wider(
            'expires_at',
            `This credential expires at ${creator.expiresAt}; give the same or an earlier time`,
          ),
        ]
      : []),
  ];
}

/** Whether a credential reaches nothing that a caller's limits exclude. Its right to change things is ignored. */
export function reachesNoMore(of: CallerLimits | null, limits: CallerLimits | null): boolean {
  if (limits === null || limits.accountId === null) return true;
  if (of?.accountId !== limits.accountId) return false;
  const { installIds } = limits;
  if (installIds === null) return true;
  return of.installIds?.every((id) => installIds.includes(id)) ?? false;
}

const NO_ACCOUNT: Fault = {
  resource: 'Credential',
  field: 'account_id',
  type: 'missing_field',
  code: 'required',
  message: 'Give the account that the installs belong to',
};

const FOREIGN_ACCOUNT: Fault = {
  resource: 'Credential',
  field: 'account_id',
  type: 'access_error',
  code: 'not_permitted',
  message: 'The owner of the credential is not in this account',
};

function foreignInstall(index: number, what: string): Fault {
  return {
    resource: 'Credential',
    field: `install_ids.${index}`,
    type: 'access_error',
    code: 'not_permitted',
    message: `The owner of the credential sees no ${what} in the account`,
  };
}

/** Parses an expiry time, or returns its faults. */
export function readExpiry(text: string | null, now: Date): { expiresAt: string | null; faults: Fault[] } {
  if (text === null) return { expiresAt: null, faults: [] };
  const at = Date.parse(text);
  // The schema accepts leap seconds; Date.parse does not.
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
