import type { Reason } from '../../api/overview.ts';
import { displayName } from '../../components/display-name.ts';
import { DAY_MS, relativeTime } from '../../components/formatted-time.ts';

/** Where to fix what needs attention, and how. */
const REMEDIES: Record<Reason['kind'], { section: string; advice: string }> = {
  install_failed: { section: '', advice: 'Try again, or delete this install.' },
  data_lost: {
    section: '/backups',
    advice: 'Restore a backup. The website opens again once all data is back.',
  },
  backup_failed: {
    section: '/backups',
    advice: 'Try again, or create another backup. If it fails again, ask your provider.',
  },
  limit_reached: {
    section: '/usage',
    advice: 'Delete files that the website does not need, or ask your provider for more space.',
  },
  domain_not_reached: {
    section: '/domains',
    advice: 'Correct its DNS records and check it again, or remove the domain.',
  },
  certificate_missing: {
    section: '/certificates',
    advice: 'Make sure that the domain points here. Then order a certificate or upload one.',
  },
  certificate_ends: { section: '/certificates', advice: 'Order a new certificate or upload one.' },
};

/** Returns why an install needs attention, the section of its pages where to fix it, and what to do there. */
export function attentionLabel(
  reason: Reason,
  now: Date,
): { sentence: string; section: string; advice: string } {
  return { sentence: attentionSentence(reason, now), ...REMEDIES[reason.kind] };
}

function attentionSentence({ kind, domain: name, at, reason }: Reason, now: Date): string {
  const because = reason === null ? '' : ` ${reason}`;
  const domain = name === null ? 'A domain' : displayName(name);
  switch (kind) {
    case 'install_failed':
      return 'The install could not be created.';
    case 'data_lost':
      return `The website is closed to visitors, because data is missing.${because}`;
    case 'backup_failed':
      return `The last backup failed.${because}`;
    case 'limit_reached':
      return reason ?? 'The files have almost reached their limit.';
    case 'domain_not_reached':
      return `${domain} does not point here${lastChecked(at, now)}.`;
    case 'certificate_missing':
      return `${domain} has no certificate.${because}`;
    case 'certificate_ends':
      return `The certificate of ${domain} ${ending(at, now)}.`;
  }
}

/** The problem may have been fixed since the last check. */
function lastChecked(at: string | null, now: Date): string {
  return at === null ? '' : ` (checked ${relativeTime(new Date(at), now)})`;
}

function ending(at: string | null, now: Date): string {
  const left = at === null ? 0 : Date.parse(at) - now.getTime();
  if (left <= 0) return 'has expired';
  const days = Math.floor(left / DAY_MS);
  return days === 0 ? 'expires within a day' : `expires in ${days} day${days === 1 ? '' : 's'}`;
}
