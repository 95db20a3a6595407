import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { showOperation } from '../../../components/toast.tsx';

/** Switches offload off, after a confirmation. */
export function SwitchOffloadOff({ installId, bucket }: { installId: string; bucket: string }) {
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);

  async function switchOff() {
    const operationId = await unwrapStarted(
      hosting.DELETE('/installs/{install_id}/offload_settings/files', {
        params: { path: { install_id: installId } },
      }),
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['offload', installId] }),
      queries.invalidateQueries({ queryKey: ['operation', installId] }),
    ]);
    showOperation(operationId, { busy: 'Switching offload off.', done: 'Offload is off.' });
  }

  return (
    <div>
      <Button onClick={() => setAsking(true)}>Switch offload off</Button>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title="Switch offload off?"
        description={`The website serves its own files again. Files that only the bucket ${bucket} has are then missing: copy them back first. The bucket stays as it is.`}
        confirmLabel="Switch off"
        onConfirm={switchOff}
      />
    </div>
  );
}
