import ArrowUpCircleIcon from '@heroicons/react/24/outline/ArrowUpCircleIcon';
import { useSession } from '../session/session.ts';
import styles from './shell.module.css';

/** A newer release of Homeport, for those who operate the platform. One that fixes a vulnerability stands out. */
export function ReleaseNotice() {
  const { newer_release: newer } = useSession();
  if (newer === null) return null;
  return (
    <a
      href={newer.notes}
      className={newer.security ? `${styles.docs} ${styles.security}` : styles.docs}
      title="To install it, run this on the server: sudo homeport upgrade"
      target="_blank"
      rel="noopener noreferrer"
    >
      <ArrowUpCircleIcon />
      {newer.security
        ? `Security update: Homeport ${newer.version}`
        : `Homeport ${newer.version} is available`}
      <span className="visually-hidden"> in a new tab</span>
    </a>
  );
}
