import { Suspense, useState } from 'react';
import { Link } from 'wouter';
import { type Backup, useRestorableBackup } from '../../api/backups.ts';
import type { Install } from '../../api/installs.ts';
import { isUnderWay, useOperations } from '../../api/operations.ts';
import { Button } from '../../components/button.tsx';
import { Notice, ProgressBar } from '../../components/notice.tsx';
import { onDemand } from '../../components/on-demand.ts';
import { Time } from '../../components/time.tsx';
import { useMay } from '../../session/session.ts';
import { addressOf } from './install-navigation.tsx';

const RestoreBackup = onDemand(
  () => import('./backups/restore-backup.tsx'),
  (module) => module.RestoreBackup,
);

/** Says that a website is closed to visitors because data is missing, and offers its newest backup. */
export function ClosedNotice({ install, lost }: { install: Install; lost: string }) {
  const [restored, setRestored] = useState<Backup | null>(null);
  const isBeingRestored = useOperations(install.id).data?.results.some(
    (operation) => operation.kind === 'backup.restore' && isUnderWay(operation),
  );
  return (
    <Notice tone="bad" title={`${install.name} is closed to visitors, because data is missing`}>
      <p>{lost} Visitors see an error page.</p>
      {isBeingRestored === true ? (
        <>
          <p>A backup is being restored.</p>
          <ProgressBar label="Restoring a backup" />
        </>
      ) : (
        <NewestBackup install={install} onRestore={setRestored} />
      )}
      {restored && (
        <Suspense>
          <RestoreBackup install={install} backup={restored} onClose={() => setRestored(null)} />
        </Suspense>
      )}
    </Notice>
  );
}

function NewestBackup({ install, onRestore }: { install: Install; onRestore(backup: Backup): void }) {
  const mayWork = useMay(install.account.id)('install.work');
  const { data: backup } = useRestorableBackup(install.id);
  if (backup === undefined) return null;
  if (backup === null)
    return <p>It has no backup to restore. Bring the data back by SFTP, or ask your provider.</p>;
  return (
    <>
      <p>
        Its newest backup is of <Time at={backup.created_at} exact />
        {backup.verified_at === null ? (
          ', never verified'
        ) : (
          <>
            , verified <Time at={backup.verified_at} />
          </>
        )}
        . <Link href={addressOf(install, 'backups')}>Show all backups</Link>
      </p>
      {mayWork && (
        <Button small onClick={() => onRestore(backup)}>
          Restore newest backup
        </Button>
      )}
    </>
  );
}
