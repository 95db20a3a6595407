import type { Static } from 'typebox';
import { faultOfRange, mergedRanges } from '../../../../hosting/policy/address-ranges.ts';
import { FAULTS_TOLD, type Fault, INVALID_PARAMETERS, InvalidRequest } from '../../../../lib/failures.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { createRulesChange, type RulesOf } from '../change-rules.ts';
import type { StoredProtection, StoredRules } from '../stored-rules.ts';
import type { protectionSchema, updateProtectionBody } from './schema.ts';
import { newVisitorPassword, storedPassword } from './visitor-passwords.ts';

export type Protection = Static<typeof protectionSchema>;
export type ProtectionChange = Static<(typeof updateProtectionBody)['schema']>;

export type ProtectionService = ReturnType<typeof createProtectionService>;

export function createProtectionService(platform: Platform) {
  const { sealer, random } = platform;
  const { read, change } = createRulesChange(platform);

  /** `hidesPassword`: credentials that only read see no secrets. */
  function present(
    { name }: { name: string },
    { protection, sealed_password }: StoredRules,
    hidesPassword: boolean,
  ): Protection {
    const { xmlrpc, blocked_addresses, noindex, password } = protection;
    return {
      xmlrpc,
      blocked_addresses,
      noindex,
      password: {
        enabled: password.enabled,
        username: password.username ?? name,
        password: sealed_password === null || hidesPassword ? null : sealer.open(sealed_password),
        allowed_addresses: password.allowed_addresses,
      },
    };
  }

  const hidesPassword = (of: RulesOf) => 'caller' in of && of.caller.limits?.readOnly === true;

  return {
    async get(of: RulesOf): Promise<Protection> {
      const { install, rules } = await read(of);
      return present(install, rules, hidesPassword(of));
    },

    /** Changes the given fields. The first password that is switched on is chosen by Homeport unless it is given. */
    async update(
      of: RulesOf,
      asked: ProtectionChange,
    ): Promise<{ protection: Protection; operationId: string | null }> {
      requireRanges(asked);
      const given = asked.password?.password;
      // Before the transaction, because hashing takes milliseconds.
      const chosen = await storedPassword(sealer, given ?? newVisitorPassword(random));
      const { operationId, install, rules } = await change(of, (before, { name }) => {
        const protection = changed(before.protection, asked, name);
        const isFirst = protection.password.enabled && before.password_hash === null;
        const isNew = isFirst || (given !== undefined && !isSame(before.sealed_password, given));
        return {
          rules: { ...before, protection, ...(isNew ? chosen : {}) },
          action: 'protection.update',
          details: detailsOf(before.protection, protection, isNew),
          result: undefined,
        };
      });
      return { protection: present(install, rules, hidesPassword(of)), operationId };
    },
  };

  function isSame(sealed: string | null, given: string | null): boolean {
    return sealed !== null && given !== null && sealer.open(sealed) === given;
  }
}

/** Throws InvalidRequest, which names each range that cannot be used. */
function requireRanges({ blocked_addresses = [], password }: ProtectionChange): void {
  const faults = [
    ...faultsOf('blocked_addresses', blocked_addresses),
    ...faultsOf('password.allowed_addresses', password?.allowed_addresses ?? []),
  ];
  if (faults.length > 0) throw new InvalidRequest(INVALID_PARAMETERS, faults.slice(0, FAULTS_TOLD));
}

function faultsOf(field: string, ranges: readonly string[]): Fault[] {
  return ranges.flatMap((range, index): Fault[] => {
    const fault = faultOfRange(range);
    if (fault === undefined) return [];
    return [{ resource: 'Protection', field: `${field}.${index}`, type: 'invalid_value', ...fault }];
  });
}

function changed(
  present: StoredProtection,
  { xmlrpc, noindex, blocked_addresses, password }: ProtectionChange,
  name: string,
): StoredProtection {
  const { enabled, username, allowed_addresses } = password ?? {};
  return {
    xmlrpc: xmlrpc ?? present.xmlrpc,
    noindex: noindex ?? present.noindex,
    blocked_addresses:
      blocked_addresses === undefined ? present.blocked_addresses : mergedRanges(blocked_addresses),
    password: {
      enabled: enabled ?? present.password.enabled,
      username: username === undefined ? present.password.username : username === name ? null : username,
      allowed_addresses:
        allowed_addresses === undefined
          ? present.password.allowed_addresses
          : mergedRanges(allowed_addresses),
    },
  };
}

/** The changed fields, without the password. */
function detailsOf(before: StoredProtection, after: StoredProtection, isNewPassword: boolean) {
  const all = (of: StoredProtection) => ({
    xmlrpc: of.xmlrpc,
    noindex: of.noindex,
    password: of.password.enabled ? 'on' : 'off',
    username: of.password.username,
    blocked_addresses: of.blocked_addresses.length,
    allowed_addresses: of.password.allowed_addresses.length,
  });
  const former: Record<string, string | number | null> = all(before);
  const present = Object.entries(all(after)).filter(([field, value]) => former[field] !== value);
  return { ...Object.fromEntries(present), ...(isNewPassword ? { new_password: true } : {}) };
}
