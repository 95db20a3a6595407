import { domainToASCII } from 'node:url';
import type { Static } from 'typebox';
import type { Caller } from '../../../access/caller.ts';
import { findMembership, loadScope, type Scope } from '../../../access/memberships.ts';
import { authorize } from '../../../access/permissions.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { attentionSchema, foundDomainSchema, onboardingSchema, reasonSchema } from './schema.ts';
import {
  type DoubtfulDomain,
  doubtfulDomains,
  failedBackups,
  failedInstalls,
  installsByDomain,
  stepsTaken,
} from './store.ts';

export type FoundDomain = Static<typeof foundDomainSchema>;
export type Attention = Static<typeof attentionSchema>;
export type Onboarding = Static<typeof onboardingSchema>;
type Reason = Static<typeof reasonSchema>;

/** Renewal starts with a third of the lifetime left; a certificate not renewed by now needs attention. */
const ENDS_SOON_MS = 14 * DAY_MS;

export type OverviewService = ReturnType<typeof createOverviewService>;

/** Summaries over all installs of an account. */
export function createOverviewService(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  { dailyBackups }: { dailyBackups: boolean },
) {
  const { reader } = database;

  async function scopeOf(caller: Caller, accountId: string): Promise<Scope> {
    const member = await findMembership(reader, caller, accountId);
    authorize('install.read', 'account.read', member && { ...member, own: true });
    return loadScope(reader, caller, accountId);
  }

  return {
    /** The installs with a domain whose name contains `text`, in Unicode or ASCII form. Throws NotFound. */
    async findDomains(caller: Caller, accountId: string, text: string): Promise<FoundDomain[]> {
      const scope = await scopeOf(caller, accountId);
      const written = text.trim().toLowerCase();
      const ascii = domainToASCII(written);
      const texts = ascii === '' || ascii === written ? [written] : [written, ascii];
      return installsByDomain(reader, scope, texts);
    },

    /** The installs that need attention. Throws NotFound. */
    async attention(caller: Caller, accountId: string): Promise<Attention[]> {
      const scope = await scopeOf(caller, accountId);
      const soon = timestamp(clock, ENDS_SOON_MS);
      const [installs, backups, domains] = await Promise.all([
        failedInstalls(reader, scope),
        failedBackups(reader, scope),
        doubtfulDomains(reader, scope, soon),
      ]);
      const found = new Map<string, Attention>();
      const add = ({ install_id, install_name }: Omit<Attention, 'reasons'>, reason: Reason) => {
        const known = found.get(install_id);
        if (known === undefined) found.set(install_id, { install_id, install_name, reasons: [reason] });
        else known.reasons.push(reason);
      };
      const nothing = { domain: null, at: null, reason: null };
      for (const install of installs) add(install, { ...nothing, kind: 'install_failed' });
      for (const { finished_at, reason, ...install } of backups) {
        add(install, { ...nothing, kind: 'backup_failed', at: finished_at, reason });
      }
      for (const domain of domains) add(domain, reasonOf(domain));
      return [...found.values()];
    },

    /** Which first steps were taken in an account. Throws NotFound, Forbidden for users who cannot take them. */
    async onboarding(caller: Caller, accountId: string): Promise<Onboarding> {
      const member = await findMembership(reader, caller, accountId);
      authorize('site.change', 'account.read', member && { ...member, own: true });
      return { ...(await stepsTaken(reader, accountId)), daily_backups: dailyBackups };
    },
  };
}

/** The most important reason about a domain: without reaching this host, its name gets no certificate either. */
function reasonOf(domain: DoubtfulDomain): Reason {
  const about = { domain: domain.name, reason: domain.ssl_reason };
  if (domain.reached === false) return { kind: 'domain_not_reached', ...about, at: lastSeen(domain) };
  if (domain.without_certificate) return { kind: 'certificate_missing', ...about, at: null };
  return { kind: 'certificate_ends', ...about, at: domain.not_after };
}

/** A check by the platform leaves the report as it is if nothing changed. */
function lastSeen({ checked_at, looked_at }: DoubtfulDomain): string | null {
  return (
    [checked_at, looked_at]
      .filter((at) => at !== null)
      .sort()
      .at(-1) ?? null
  );
}
