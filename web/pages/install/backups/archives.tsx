import { type Archive, useArchives } from '../../../api/archives.ts';
import { DownloadLink } from '../../../components/button.tsx';
import { formatBytes } from '../../../components/bytes.ts';
import { Badge, ProgressBar, type Tone } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import { truncate } from '../../../components/truncate.ts';
import { BACKUP_STATES } from './backup-labels.ts';
import styles from './backups.module.css';

const LONGEST_DESCRIPTION = 120;
const LOOK_AGAIN_MS = 10_000;

/** The archives of an install; nothing without any. */
export function Archives({ installId }: { installId: string }) {
  const archives = useArchives(installId).data ?? [];
  const now = useNow(LOOK_AGAIN_MS);
  if (archives.length === 0) return null;
  return (
    <Section title="Archives">
      <ul className={styles.list} aria-live="polite">
        {archives.map((archive) => (
          <ArchiveItem key={archive.id} archive={archive} now={now} />
        ))}
      </ul>
    </Section>
  );
}

function ArchiveItem({ archive, now }: { archive: Archive; now: Date }) {
  const { state, bytes, created_at, expires_at, reason, backup_description, download_uri } = archive;
  // The server gives no link once it has expired. The page may be open for longer.
  const isExpired = expires_at !== null && (download_uri === null || Date.parse(expires_at) <= now.getTime());
  const { word, tone }: { word: string; tone: Tone } = isExpired
    ? { word: 'Expired', tone: 'plain' }
    : BACKUP_STATES[state];
  const name =
    backup_description === null ? 'a deleted backup' : truncate(backup_description, LONGEST_DESCRIPTION);
  return (
    <li className={styles.backup}>
      <div className={styles.told}>
        <div className={styles.head}>
          <h3 className={styles.description}>Archive of {name}</h3>
          <Badge tone={tone}>{word}</Badge>
        </div>
        <p className={styles.soft}>
          <Time at={created_at} exact />
          {bytes !== null && `, ${formatBytes(bytes)}`}
          {expires_at !== null && (
            <>
              , {isExpired ? 'expired' : 'expires'} <Time at={expires_at} />
            </>
          )}
        </p>
        {(state === 'requested' || state === 'in_progress') && (
          <ProgressBar label={`Archive of ${name}: ${word}`} />
        )}
        {state === 'aborted' && (
          <p>{reason ?? 'The reason is unknown.'} The backup is kept. Create the archive again.</p>
        )}
        {isExpired && <p>It can no longer be downloaded. Create a new archive of the backup.</p>}
      </div>
      {download_uri !== null && !isExpired && (
        <DownloadLink small href={download_uri}>
          Download <span className="visually-hidden">the archive of {name}</span>
        </DownloadLink>
      )}
    </li>
  );
}
