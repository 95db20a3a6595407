import type { Reason } from '../../api/overview.ts';
import { displayName } from '../../components/display-name.ts';
import { DAY_MS, relativeTime } from '../../components/time.tsx';

/** Why somebody should see to an install, in one sentence, and in which part of its pages. */
export function attentionLabel(
  { kind, domain: name, at, reason }: Reason,
  now: Date,
): { sentence: string; section: string } {
  const because = reason === null ? '' : ` ${reason}`;
  const domain = name === null ? 'A domain' : displayName(name);
  switch (kind) {
    case 'install_failed':
      return { sentence: 'It could not be made.', section: '' };
    case 'backup_failed':
      return { sentence: `The last backup failed.${because}`, section: '/backups' };
    case 'domain_not_reached':
      return { sentence: `${domain} does not lead here${asSeen(at, now)}.`, section: '/domains' };
    case 'certificate_missing':
      return { sentence: `${domain} has no certificate.${because}`, section: '/domains' };
    case 'certificate_ends':
      return { sentence: `The certificate of ${domain} ${ending(at, now)}.`, section: '/domains' };
  }
}

/** Nobody looks all the time: it may have been mended since. */
function asSeen(at: string | null, now: Date): string {
  return at === null ? '' : `, as seen ${relativeTime(new Date(at), now)}`;
}

function ending(at: string | null, now: Date): string {
  const left = at === null ? 0 : Date.parse(at) - now.getTime();
  if (left <= 0) return 'has ended';
  const days = Math.floor(left / DAY_MS);
  return days === 0 ? 'ends within a day' : `ends in ${days} day${days === 1 ? '' : 's'}`;
}
