import { useState } from 'react';
import { BACKUPS_A_PAGE, type Backup, useBackups } from '../../../api/backups.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, MainSection } from '../../../components/page.tsx';
import { useQueryParameters } from '../../../components/query-parameters.ts';
import { usePage } from '../../../components/table.tsx';
import { useMay } from '../../../session/session.ts';
import { Archives } from './archives.tsx';
import { type BackupAction, BackupItem } from './backup-item.tsx';
import { isLastBackup } from './backup-labels.ts';
import styles from './backups.module.css';
import { BrowseBackup } from './browsing/browse-backup.tsx';
import { CreateArchive } from './create-archive.tsx';
import { CreateBackup } from './create-backup.tsx';
import { DeleteBackup } from './delete-backup.tsx';
import { RestoreBackup } from './restore-backup.tsx';
import { Restores } from './restores.tsx';

interface Asked {
  action: BackupAction;
  backup: Backup;
  open: boolean;
}

/** The backups of an install, or the content of the one that the address names. */
export function BackupsSection({ install }: { install: Install }) {
  const backupId = useQueryParameters().get('backup');
  return backupId === '' ? (
    <AllBackups install={install} />
  ) : (
    <BrowseBackup key={backupId} install={install} backupId={backupId} />
  );
}

/** The backups of an install and their archives: list, create, restore, download and delete. */
function AllBackups({ install }: { install: Install }) {
  const address = useQueryParameters();
  const [page, setPage] = usePage();
  const [making, setMaking] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const query = useBackups(install.id, page);
  const mayWork = useMay(install.account.id)('install.work');
  const operations = useOperations(install.id).data?.results ?? [];
  const failed = new Map(
    operations.flatMap(({ id, kind, retryable, backup }) =>
      kind === 'backup.create' && retryable && backup !== null ? [[backup.id, id] as const] : [],
    ),
  );
  const ask = (action: BackupAction, backup: Backup) => setAsked({ action, backup, open: true });
  return (
    <>
      <Restores installId={install.id} onRestore={mayWork ? (backup) => ask('restore', backup) : null} />
      <MainSection
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
                    browseHref={address.addressWith({ backup: backup.id, page: '' })}
                    retryId={failed.get(backup.id) ?? null}
                    onAction={mayWork ? (action) => ask(action, backup) : null}
                  />
                ))}
              </ul>
              <Pages page={page} of={Math.ceil(count / BACKUPS_A_PAGE)} onTurn={setPage} />
            </>
          )}
        </Loaded>
        <CreateBackup open={making} onOpenChange={setMaking} install={install} />
      </MainSection>
      <Archives installId={install.id} />
      {asked && (
        <ActionDialog
          install={install}
          asked={asked}
          isLast={isLastBackup(asked.backup, query.data)}
          onOpenChange={(open) => setAsked({ ...asked, open })}
        />
      )}
    </>
  );
}

function ActionDialog({
  install,
  asked: { action, backup, open },
  isLast,
  onOpenChange,
}: {
  install: Install;
  asked: Asked;
  isLast: boolean;
  onOpenChange(open: boolean): void;
}) {
  const about = { open, onOpenChange, install, backup };
  switch (action) {
    case 'restore':
      return open && <RestoreBackup install={install} backup={backup} onClose={() => onOpenChange(false)} />;
    case 'archive':
      return <CreateArchive {...about} />;
    case 'delete':
      return <DeleteBackup {...about} isLast={isLast} />;
  }
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
