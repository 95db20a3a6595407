import { useState } from 'react';
import { isRestorable } from '../../../api/backup-state.ts';
import type { Backup } from '../../../api/backups.ts';
import { Button, ButtonLink } from '../../../components/button.tsx';
import { formatBytes } from '../../../components/bytes.ts';
import { Menu } from '../../../components/menu.tsx';
import { Badge, ProgressBar } from '../../../components/notice.tsx';
import { Time } from '../../../components/time.tsx';
import { truncate } from '../../../components/truncate.ts';
import { TryAgain } from '../operations/try-again.tsx';
import { formatFileCount, isInProgress, stateOf } from './backup-labels.ts';
import styles from './backups.module.css';

/** Longer descriptions are shortened until the user expands them. */
const LONGEST_DESCRIPTION = 200;

export type BackupAction = 'restore' | 'archive' | 'delete';

function occasionOf({ scheduled, for_copy, checkpoint }: Backup): string {
  if (for_copy) return 'deleted after the copy';
  if (checkpoint) return 'checkpoint';
  return scheduled ? 'scheduled' : 'manual';
}

/** A backup with its state and what the user can do with it. `onAction` is null for users who cannot change it. */
export function BackupItem({
  backup,
  retryId,
  browseHref,
  onAction,
}: {
  backup: Backup;
  /** The address of its content. */
  browseHref: string;
  /** The failed operation that made it, if it can be repeated. */
  retryId: string | null;
  onAction: ((action: BackupAction) => void) | null;
}) {
  const { word, tone } = stateOf(backup);
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
          {isRestorable(backup) && !backup.for_copy && backup.expires_at !== null && (
            <>
              , kept until <Time at={backup.expires_at} exact />
            </>
          )}
        </p>
        {isInProgress(backup) && <ProgressBar label={`${described}: ${word}`} />}
        {backup.missing_since !== null && (
          <p>
            The backup storage has not had this backup since <Time at={backup.missing_since} exact />, so it
            cannot be restored. Ask your provider to bring it back, or create another one.
          </p>
        )}
        {backup.status === 'aborted' && (
          <p>
            {backup.reason ?? 'The reason is unknown.'} The website is not affected. {adviceFor(backup)}
          </p>
        )}
      </div>
      {!backup.for_copy && !isInProgress(backup) && (onAction !== null || isRestorable(backup)) && (
        <div className={styles.actions}>
          {isRestorable(backup) && (
            <ButtonLink small href={browseHref} label={`Browse ${described}`}>
              Browse
            </ButtonLink>
          )}
          {onAction !== null && retryId !== null && <TryAgain operationId={retryId} what={described} />}
          {onAction !== null && <Actions backup={backup} described={described} onAction={onAction} />}
        </div>
      )}
    </li>
  );
}

function adviceFor({ for_copy, checkpoint }: Backup): string {
  if (for_copy) return 'Copy it again.';
  return checkpoint ? 'Nothing was replaced.' : 'Try again, or create another one.';
}

function Actions({
  backup,
  described,
  onAction,
}: {
  backup: Backup;
  described: string;
  onAction(action: BackupAction): void;
}) {
  if (!isRestorable(backup)) {
    return (
      <Button small aria-label={`Delete ${described}`} onClick={() => onAction('delete')}>
        Delete
      </Button>
    );
  }
  return (
    <>
      <Button small aria-label={`Restore ${described}`} onClick={() => onAction('restore')}>
        Restore
      </Button>
      <Menu
        small
        label={`More actions for ${described}`}
        entries={[
          { label: 'Download', onSelect: () => onAction('archive') },
          { label: 'Delete', onSelect: () => onAction('delete') },
        ]}
      >
        More
      </Menu>
    </>
  );
}
