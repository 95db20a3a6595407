import { Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Role } from '../lib/roles.ts';
import type { CallerLimits } from './caller.ts';
import type { ResourceAccess } from './permissions.ts';

const storedInstallIds = Type.Union([Type.Null(), Type.Array(Type.String())]);

/** Parses the stored limits of a credential; null without limits. Throws if `install_ids` is malformed. */
export function parseLimits(row: {
  read_only: boolean;
  account_id: string | null;
  install_ids: unknown;
}): CallerLimits | null {
  const installIds = Value.Parse(storedInstallIds, row.install_ids);
  if (!row.read_only && row.account_id === null && installIds === null) return null;
  return { readOnly: row.read_only, accountId: row.account_id, installIds };
}

/** The role in an account that the limits leave: 'partial' if they list installs, null for another account. */
export function limitedRole(limits: CallerLimits | null, role: Role | null, accountId: string): Role | null {
  if (limits === null || role === null) return role;
  if (limits.accountId !== null && limits.accountId !== accountId) return null;
  return limits.installIds === null ? role : 'partial';
}

/** The access to an install that the limits leave. Never more than the user's own. */
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

/** Whether the limits list installs, and not this one. */
export function excludesInstall(limits: CallerLimits | null, installId: string): boolean {
  return limits !== null && limits.installIds !== null && !limits.installIds.includes(installId);
}

/** Whether the limits name an account or installs. Such a credential may not change what belongs to the whole user, such as SSH keys. */
export function hasLimitedScope(limits: CallerLimits | null): boolean {
  return limits !== null && (limits.accountId !== null || limits.installIds !== null);
}
