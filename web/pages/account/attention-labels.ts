import type { Reason } from '../../api/overview.ts';
import { displayName } from '../../components/display-name.ts';
import { DAY_MS, relativeTime } from '../../components/time.tsx';

/** Returns why an install needs attention, and the section of its pages where to fix it. */
export function attentionLabel(
  { kind, domain: name, at, reason }: Reason,
  now: Date,
): { sentence: string; section: string } {
  const because = reason === null ? '' : ` ${reason}`;
  const domain = name === null ? 'A domain' : displayName(name);
  switch (kind) {
    case 'install_failed':
      return { sentence: 'The install could not be created.', section: '' };
    case 'backup_failed':
      return { sentence: `The last backup failed.${because}`, section: '/backups' };
    case 'domain_not_reached':
      return { sentence: `${domain} does not point here${lastChecked(at, now)}.`, section: '/domains' };
    case 'certificate_missing':
      return { sentence: `${domain} has no certificate.${because}`, section: '/certificates' };
    case 'certificate_ends':
      return { sentence: `The certificate of ${domain} ${ending(at, now)}.`, section: '/certificates' };
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
