import { useState } from 'react';
import { BACKUPS_A_PAGE, type Backup, useBackups } from '../../../api/backups.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { formatBytes } from '../../../components/bytes.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge, ProgressBar } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { truncate } from '../../../components/truncate.ts';
import { useMay } from '../../../session/session.ts';
import { BACKUP_STATES, formatFileCount, isInProgress } from './backup-labels.ts';
import styles from './backups.module.css';
import { CreateBackup } from './create-backup.tsx';
import { RestoreBackup } from './restore-backup.tsx';
import { Restores } from './restores.tsx';

/** The backups of an install: list, create and restore. */
export function BackupsSection({ install }: { install: Install }) {
  const [page, setPage] = useState(0);
  const [making, setMaking] = useState(false);
  const [restored, setRestored] = useState<Backup | null>(null);
  const query = useBackups(install.id, page);
  const mayWork = useMay(install.account.id)('install.work');
  return (
    <>
      <Restores installId={install.id} />
      <Section
        title="Backups"
        actions={
          mayWork &&
          install.status === 'active' && (
            <Button variant="primary" onClick={() => setMaking(true)}>
              Create backup
            </Button>
          )
        }
      >
        <Loaded query={query} what="backups">
          {({ results, count }) => (
            <>
              {count === 0 && (
                <Empty>
                  You have no backups yet. Create one before a risky change. Daily backups appear here if your
                  provider makes them.
                </Empty>
              )}
              <ul className={styles.list} aria-live="polite">
                {results.map((backup) => (
                  <BackupItem
                    key={backup.id}
                    backup={backup}
                    onRestore={mayWork ? () => setRestored(backup) : null}
                  />
                ))}
              </ul>
              <Pages page={page} of={Math.ceil(count / BACKUPS_A_PAGE)} onTurn={setPage} />
            </>
          )}
        </Loaded>
        <CreateBackup open={making} onOpenChange={setMaking} install={install} />
        {restored && (
          <RestoreBackup
            install={install}
            backup={restored}
            onClose={() => setRestored(null)}
            onBackupInstead={() => {
              setRestored(null);
              setMaking(true);
            }}
          />
        )}
      </Section>
    </>
  );
}

/** Longer descriptions are shortened until the user expands them. */
const LONGEST_DESCRIPTION = 200;

function occasionOf({ scheduled, for_copy }: Backup): string {
  if (for_copy) return 'deleted after the copy';
  return scheduled ? 'scheduled' : 'manual';
}

function BackupItem({ backup, onRestore }: { backup: Backup; onRestore: (() => void) | null }) {
  const { word, tone } = BACKUP_STATES[backup.status];
  const [isWhole, setIsWhole] = useState(false);
  const described = truncate(backup.description, LONGEST_DESCRIPTION);
  return (
    <li className={styles.backup}>
      <div className={styles.told}>
        <div className={styles.head}>
          <h3 className={styles.description}>{isWhole ? backup.description : described}</h3>
          <Badge tone={tone}>{word}</Badge>
        </div>
        {described !== backup.description && (
          <div>
            <Button small aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
              {isWhole ? 'Show less' : 'Show full description'}
            </Button>
          </div>
        )}
        <p className={styles.soft}>
          <Time at={backup.created_at} exact />, {occasionOf(backup)}
          {backup.bytes !== null && `, ${formatBytes(backup.bytes)}`}
          {backup.files !== null && `, ${formatFileCount(backup.files)}`}
        </p>
        {isInProgress(backup) && <ProgressBar label={`${described}: ${word}`} />}
        {backup.status === 'aborted' && (
          <p>
            {backup.reason ?? 'The reason is unknown.'} The website is not affected.{' '}
            {backup.for_copy ? 'Copy it again.' : 'Create the backup again.'}
          </p>
        )}
      </div>
      {backup.status === 'completed' && !backup.for_copy && onRestore && (
        <Button small aria-label={`Restore ${described}`} onClick={onRestore}>
          Restore
        </Button>
      )}
    </li>
  );
}

function Pages({ page, of, onTurn }: { page: number; of: number; onTurn(page: number): void }) {
  if (of < 2) return null;
  return (
    <nav className={styles.head} aria-label="Pages of backups">
      <Button small disabled={page === 0} onClick={() => onTurn(page - 1)}>
        Newer
      </Button>
      <span>
        Page {page + 1} of {of}
      </span>
      <Button small disabled={page >= of - 1} onClick={() => onTurn(page + 1)}>
        Older
      </Button>
    </nav>
  );
}
