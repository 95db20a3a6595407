import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button, ButtonLink } from '../../../components/button.tsx';
import { onDemand } from '../../../components/on-demand.ts';
import { showFailure, showOperation } from '../../../components/toast.tsx';
import styles from './overview.module.css';

const CreateBackup = onDemand(
  () => import('../backups/create-backup.tsx'),
  (module) => module.CreateBackup,
);

/** The frequent actions of an install, without a detour through their pages. */
export function QuickActions({ install }: { install: Install }) {
  const [backingUp, setBackingUp] = useState<boolean | null>(null);
  return (
    <div className={styles.actions}>
      <Button onClick={() => setBackingUp(true)}>Create backup</Button>
      <PurgePages installId={install.id} />
      <ButtonLink href={`/installs/${install.id}/domains`}>Manage domains</ButtonLink>
      <ButtonLink href={`/installs/${install.id}/connect`}>Connect by SFTP</ButtonLink>
      {backingUp !== null && (
        <Suspense>
          <CreateBackup open={backingUp} onOpenChange={setBackingUp} install={install} />
        </Suspense>
      )}
    </div>
  );
}

function PurgePages({ installId }: { installId: string }) {
  const queries = useQueryClient();
  const purge = useMutation({
    mutationFn: () =>
      unwrapStarted(
        hosting.POST('/installs/{install_id}/purge_cache', {
          params: { path: { install_id: installId } },
          body: { type: 'page' },
        }),
      ),
    onSuccess: (operationId) =>
      showOperation(operationId, { busy: 'Purging the page cache.', done: 'Purged the page cache.' }),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['operation', installId] }),
  });
  return (
    <Button pending={purge.isPending} onClick={() => purge.mutate()}>
      Purge page cache
    </Button>
  );
}
