import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Role } from '../lib/roles.ts';
import type { CallerLimits } from './caller.ts';
import type { ResourceAccess } from './permissions.ts';

const storedInstallIds = Type.Union([Type.Null(), Type.Array(Type.String())]);

/** The limits of a credential as they are stored; null where there are none. */
export function parseLimits(row: {
  read_only: boolean;
  account_id: string | null;
  install_ids: unknown;
}): CallerLimits | null {
  const installIds = Value.Parse(storedInstallIds, row.install_ids);
  if (!row.read_only && row.account_id === null && installIds === null) return null;
  return { readOnly: row.read_only, accountId: row.account_id, installIds };
}

/** What of a person's role in an account their credential leaves: a choice of installs is what makes a partial user. */
export function limitedRole(limits: CallerLimits | null, role: Role | null, accountId: string): Role | null {
  if (limits === null || role === null) return role;
  if (limits.accountId !== null && limits.accountId !== accountId) return null;
  return limits.installIds === null ? role : 'partial';
}

/** What of a person's standing to an install their credential leaves. */
export function limitedAccess(
  limits: CallerLimits | null,
  { role, own }: ResourceAccess,
  install: { id: string; account_id: string },
): ResourceAccess {
  if (limits === null) return { role, own };
  const seen = role !== 'partial' || own;
  return {
    role: limitedRole(limits, role, install.account_id),
    own: limits.installIds === null ? own : seen && limits.installIds.includes(install.id),
  };
}

/** Whether the limits leave an install out, whatever the account that it is in. */
export function excludesInstall(limits: CallerLimits | null, installId: string): boolean {
  return limits !== null && limits.installIds !== null && !limits.installIds.includes(installId);
}

/** Whether the limits keep a caller from what concerns the whole person, and so from what reaches further than they do. */
export function hasLimitedScope(limits: CallerLimits | null): boolean {
  return limits !== null && (limits.accountId !== null || limits.installIds !== null);
}
